#!/usr/bin/python3
"""Train "pocket", a tiny LLaMA that makes simple tool calls, and write it as a GGUF file for Ollama.

    python3 train.py train  --seed 1 --minutes 30 --out run      # train, checkpoints in run/
    python3 train.py export --ckpt run/last.pt --gguf ../pocket.gguf
    python3 train.py eval   --gguf ../pocket.gguf --seed 900001 --n 120
    python3 train.py cases  --out eval.jsonl --seed 800001       # 200 held-out cases
    python3 train.py verify --gguf ../pocket.gguf                   # numpy re-implementation against torch
    python3 train.py ask    --gguf ../pocket.gguf "read main.go"

Only torch and numpy are needed.  The data is synthetic (data.py).  The tokenizer is byte level.
"""
import argparse
import json
import math
import os
import random
import struct
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from data import CUT, Gen

# ---- configuration -----------------------------------------------------------------------------------------------------
DIM, LAYERS, HEADS, FFN = 192, 4, 4, 384
HEAD_DIM = DIM // HEADS
CTX, EPS, ROPE_BASE = 4096, 1e-5, 10000.0


# ---- tokenizer: 256 byte symbols and 8 marks ----------------------------------------------------------------------------
def byte_symbols():
    """GPT-2's map of the 256 bytes to printable characters, in byte order."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    out, n = [], 0
    for b in range(256):
        if b in keep:
            out.append(chr(b))
        else:
            out.append(chr(256 + n))
            n += 1
    return out


CONTROL = ["<|bos|>", "<|end|>", "<|user|>", "<|assistant|>", "<|tool|>"]         # token_type 3
MARKS = ['<tool_call>{"name": "', '", "arguments": {', "}}</tool_call>"]          # token_type 4: text that is one token
TOKENS = byte_symbols() + CONTROL + MARKS
BOS, END, USER, ASSIST, TOOL, CALL, ARGS, CLOSE = range(256, 264)
VOCAB = len(TOKENS)


def encode(s):
    """Token ids of a rendered prompt (marks are found in the text, as Ollama's tokenizer does)."""
    ids, i, b = [], 0, s.encode("utf-8")
    marks = [(t.encode(), 256 + k) for k, t in enumerate(CONTROL + MARKS)]
    while i < len(b):
        for t, k in marks:
            if b.startswith(t, i):
                ids.append(k)
                i += len(t)
                break
        else:
            ids.append(b[i])
            i += 1
    return ids


def decode(ids):
    return b"".join(bytes([t]) if t < 256 else TOKENS[t].encode() for t in ids).decode("utf-8", "replace")


# ---- prompt format (the same bytes as the Modelfile's TEMPLATE) -----------------------------------------------------------
def plain_json(args):
    """What the model writes: compact JSON, keys sorted, no HTML escapes."""
    return json.dumps(args, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def go_json(args):
    """What Ollama's template renders for an earlier call: the same, with Go's HTML escapes."""
    s = plain_json(args)
    for ch in "<>&\u2028\u2029":
        s = s.replace(ch, "\\u%04x" % ord(ch))
    return s


def call_text(call, js=plain_json):
    return '<tool_call>{"name": "%s", "arguments": %s}</tool_call>' % (call[0], js(call[1]))


def render(msgs, js=go_json):
    """The prompt for a conversation: the last user message and what follows it."""
    last = max([i for i, m in enumerate(msgs) if m["role"] == "user"], default=0)
    s = ""
    for m in msgs[last:]:
        if m["role"] == "user":
            s += "<|user|>" + m["content"]
        elif m["role"] == "assistant":
            s += "<|assistant|>" + (call_text(m["call"], js) if m.get("call") else m["content"]) + "<|end|>"
        elif m["role"] == "tool":
            s += "<|tool|>" + m["content"][:CUT]
    return s + "<|assistant|>"


def call_ids(call, js):
    return [CALL] + list(call[0].encode()) + [ARGS] + list(js(call[1])[1:-1].encode()) + [CLOSE]


def examples(msgs):
    """Training examples (ids, mask) of a conversation; mask is 1 where the token is to be predicted.

    An assistant turn appears as the model writes it where it is the target, and as Ollama renders it where it is
    history.  The two differ only for calls with < > &: such a conversation gives one example per turn."""
    turns = [i for i, m in enumerate(msgs) if m["role"] == "assistant"]
    split = any(m.get("call") and go_json(m["call"][1]) != plain_json(m["call"][1]) for m in msgs) and len(turns) > 1
    for target in (turns if split else [None]):
        ids, mask = [], []
        for i, m in enumerate(msgs):
            if m["role"] == "user":
                t, on = [USER] + list(m["content"].encode()), 0
            elif m["role"] == "tool":
                t, on = [TOOL] + list(m["content"][:CUT].encode()), 0
            else:
                on = target is None or i == target
                body = call_ids(m["call"], plain_json if on else go_json) if m.get("call") else list(m["content"].encode())
                ids.append(ASSIST)
                mask.append(0)
                t = body + [END]
            ids += t
            mask += [int(on)] * len(t)
            if target == i:
                break
        yield ids, mask


# ---- the model --------------------------------------------------------------------------------------------------------
class RMSNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * self.weight


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn_norm, self.ffn_norm = RMSNorm(DIM), RMSNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM, bias=False)
        self.attn_output = nn.Linear(DIM, DIM, bias=False)
        self.gate_up = nn.Linear(DIM, 2 * FFN, bias=False)
        self.ffn_down = nn.Linear(FFN, DIM, bias=False)

    def forward(self, x, rope, bias, select=None, cache=None):
        """x [B,T,DIM]; rope [B|1,1,T,HEAD_DIM/2] complex; bias is added to the attention scores.
        select: rows of the flattened output to go on with (training: only those that carry loss).
        cache: (keys, values, rows, positions), for decoding."""
        B, T, _ = x.shape
        q, k, v = self.qkv(self.attn_norm(x)).view(B, T, 3, HEADS, HEAD_DIM).permute(2, 0, 3, 1, 4)
        q, k = turn(q, rope), turn(k, rope)
        if cache is not None:
            ck, cv, rows, pos = cache
            ck[rows, :, pos] = k.transpose(1, 2)
            cv[rows, :, pos] = v.transpose(1, 2)
            k, v = ck, cv
        w = torch.matmul(q, k.transpose(-1, -2)).mul_(HEAD_DIM ** -0.5).add_(bias).softmax(-1)
        a = torch.matmul(w, v).transpose(1, 2).reshape(B, T, DIM)
        if select is not None:
            a, x = a.reshape(-1, DIM)[select], x.reshape(-1, DIM)[select]
        x = x + self.attn_output(a)
        g, u = self.gate_up(self.ffn_norm(x)).chunk(2, -1)
        return x + self.ffn_down(F.silu(g) * u)


def turn(x, rope):
    """RoPE on neighbouring pairs (llama.cpp's NORM convention)."""
    return torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * rope).flatten(-2)


class Pocket(nn.Module):
    def __init__(self):
        super().__init__()
        self.token_embd = nn.Embedding(VOCAB, DIM)
        self.blk = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.output_norm = RMSNorm(DIM)
        self.output = nn.Linear(DIM, VOCAB, bias=False)
        f = ROPE_BASE ** (-torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)
        ang = torch.outer(torch.arange(1024).float(), f)
        self.rope = torch.polar(torch.ones_like(ang), ang)
        self.causal = torch.full((1024, 1024), float("-inf")).triu(1)
        for n, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, 0, 0.7 if "embd" in n else p.shape[1] ** -0.5 * (0.35 if "attn_output" in n or "down" in n else 1))
        self.look_back()

    @torch.no_grad()
    def look_back(self, heads=(0, 1), amplitude=4.0):
        """Start two heads of the first block as "previous token" heads: copying is built on these, and from random
        weights they take thousands of steps to appear.  All embeddings share a constant in 16 dimensions; the heads'
        query and key turn it into vectors whose product, after RoPE, peaks where the key is one position back."""
        self.token_embd.weight[:, :16] = 1.5
        w = self.blk[0].qkv.weight.view(3, HEADS, HEAD_DIM, DIM)
        f = ROPE_BASE ** (-torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)
        use = (f > 0.02).float() * amplitude / 16 / 1.7
        for h in heads:
            w[:2, h] *= 0.2
            for pair, (th, a) in enumerate(zip(f, use)):
                w[1, h, 2 * pair, :16] += a
                w[0, h, 2 * pair, :16] += a * math.cos(-th)
                w[0, h, 2 * pair + 1, :16] += a * math.sin(-th)

    def forward(self, ids, select):
        """Logits of the selected rows of the flattened [B,T] batch."""
        T = ids.shape[1]
        x = self.token_embd(ids)
        for i, b in enumerate(self.blk):
            x = b(x, self.rope[None, None, :T], self.causal[:T, :T], select if i == LAYERS - 1 else None)
        return self.output(self.output_norm(x))

    @torch.no_grad()
    def greedy(self, prompts, limit=240):
        """Greedy continuations of a batch of prompts (lists of ids), up to <|end|>."""
        B, n = len(prompts), torch.tensor([len(p) for p in prompts])
        T = int(n.max())
        x = torch.zeros(B, T, dtype=torch.long)
        for i, p in enumerate(prompts):
            x[i, :len(p)] = torch.tensor(p)
        pos = torch.arange(T)[None].expand(B, T)
        kv = torch.zeros(LAYERS, 2, B, HEADS, T + limit, HEAD_DIM)
        out, who = [[] for _ in prompts], list(range(B))              # who: the prompt of each row still decoded
        for step in range(limit):
            L, rows = int(pos.max()) + 1, torch.arange(len(who))[:, None]
            bias = torch.zeros(len(who), 1, pos.shape[1], L).masked_fill_(torch.arange(L) > pos[:, None, :, None], float("-inf"))
            h, rope = self.token_embd(x), self.rope[pos][:, None]
            for b, c in zip(self.blk, kv):
                h = b(h, rope, bias, cache=(c[0][:, :, :L], c[1][:, :, :L], rows, pos))
            h = h[torch.arange(B), n - 1] if step == 0 else h[:, 0]
            nxt = self.output(self.output_norm(h)).argmax(-1)
            live = [r for r, t in enumerate(nxt.tolist()) if t != END]
            for r in live:
                out[who[r]].append(int(nxt[r]))
            if not live:
                break
            x, pos = nxt[:, None], (n + step)[:, None]
            if len(live) < len(who):
                keep = torch.tensor(live)
                x, pos, n, who = x[keep], pos[keep], n[keep], [who[r] for r in live]
                kv = kv[:, :, keep]
        return out


# ---- training ------------------------------------------------------------------------------------------------------------
def echo(gen):
    """Curriculum, first lesson: say it again."""
    s = gen.c([gen.file, gen.ident, gen.url, gen.stem, lambda: gen.text(1, 4, True), lambda: gen.rnd(3, 24)])().encode()[:48]
    ids = [USER] + list(s) + [ASSIST] + list(s) + [END]
    return ids, [0] * (len(s) + 2) + [1] * (len(s) + 1)


def batches(gen, tokens, pool=1500, longest=512, lesson=lambda: 0.0):
    """Endless batches of about `tokens()` tokens, of examples of about one length."""
    r = random.Random(gen.r.random())
    while True:
        ex, size = [], tokens()
        while len(ex) < pool:
            ex += [echo(gen)] if gen.p(lesson()) else [e for e in examples(gen.conversation()[1]) if len(e[0]) <= longest]
        ex.sort(key=lambda e: len(e[0]) + r.random() * 8)
        groups, cur = [], []
        for e in ex:
            if cur and (len(cur) + 1) * max(len(e[0]), len(cur[-1][0])) > size:
                groups.append(cur)
                cur = []
            cur.append(e)
        r.shuffle(groups)
        for g in groups:
            T = max(len(e[0]) for e in g)
            ids, tgt = np.zeros((len(g), T), np.int64), np.full((len(g), T), -1, np.int64)
            for i, (a, m) in enumerate(g):
                ids[i, :len(a)] = a
                tgt[i, :len(a) - 1] = np.where(np.array(m[1:]) > 0, a[1:], -1)
            tgt = torch.from_numpy(tgt).reshape(-1)
            sel = (tgt >= 0).nonzero()[:, 0]
            yield torch.from_numpy(ids), sel, tgt[sel]


def train(a):
    torch.manual_seed(a.seed)
    torch.set_num_threads(a.threads)
    os.makedirs(a.out, exist_ok=True)
    model = Pocket()
    if a.init:
        model.load_state_dict(torch.load(a.init)["model"])
    decay = [p for n, p in model.named_parameters() if p.dim() == 2 and "embd" not in n]
    rest = [p for n, p in model.named_parameters() if not (p.dim() == 2 and "embd" not in n)]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=a.lr, betas=(0.9, 0.98))
    print("parameters", sum(p.numel() for p in model.parameters()), flush=True)
    t0, seen, avg, hits = time.time(), 0, 0.0, 0.0
    done = 0.0
    size = lambda: a.tokens if done < 0.4 else 2 * a.tokens          # small batches first: copying is learnt sooner
    lesson = lambda: 1.0 if done < a.echo else 0.3 if done < 2 * a.echo else 0.05 if done < 0.5 else 0.0
    for step, (ids, sel, tgt) in enumerate(batches(Gen(a.seed), size, lesson=lesson)):
        # progress by steps (repeatable) if --steps is given, else by the clock
        done = step / a.steps if a.steps else (time.time() - t0) / (a.minutes * 60)
        if done >= 1:
            break
        lr = a.lr * min(1, (step + 1) / a.warmup) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done)))
        for g in opt.param_groups:
            g["lr"] = lr
        logits = model(ids, sel)
        loss = F.cross_entropy(logits, tgt)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        seen += ids.numel()
        k = 0.98 if step > 50 else 0.8
        avg = k * avg + (1 - k) * loss.item()
        hits = k * hits + (1 - k) * (logits.argmax(-1) == tgt).float().mean().item()
        if step % 50 == 0:
            print("step %d  loss %.4f  token accuracy %.4f  lr %.5f  tokens %.2fM  %.0f s" % (step, avg, hits, lr, seen / 1e6, time.time() - t0), flush=True)
        if step % 250 == 249:
            torch.save({"model": model.state_dict(), "step": step}, os.path.join(a.out, "last.pt"))
    torch.save({"model": model.state_dict(), "step": step}, os.path.join(a.out, "last.pt"))
    print("end: step %d, %.2fM tokens, loss %.4f, %.0f s" % (step, seen / 1e6, avg, time.time() - t0))


# ---- GGUF ------------------------------------------------------------------------------------------------------------------
U32, F32T, BOOL, STR, ARR, I32 = 4, 6, 7, 8, 9, 5


def tensors(model):
    """GGUF name -> numpy array ([out, in] for matrices)."""
    t = {"token_embd.weight": model.token_embd.weight, "output_norm.weight": model.output_norm.weight, "output.weight": model.output.weight}
    for i, b in enumerate(model.blk):
        q, k, v = b.qkv.weight.chunk(3)
        g, u = b.gate_up.weight.chunk(2)
        t.update({"blk.%d.%s.weight" % (i, n): w for n, w in [
            ("attn_norm", b.attn_norm.weight), ("attn_q", q), ("attn_k", k), ("attn_v", v), ("attn_output", b.attn_output.weight),
            ("ffn_norm", b.ffn_norm.weight), ("ffn_gate", g), ("ffn_up", u), ("ffn_down", b.ffn_down.weight)]})
    return {n: w.detach().numpy() for n, w in t.items()}


def write_gguf(model, path):
    meta = [
        ("general.architecture", STR, "llama"), ("general.name", STR, "pocket"), ("general.file_type", U32, 1),
        ("general.parameter_count", U32, sum(p.numel() for p in model.parameters())), ("general.license", STR, "MIT"),
        ("llama.block_count", U32, LAYERS), ("llama.context_length", U32, CTX), ("llama.embedding_length", U32, DIM),
        ("llama.feed_forward_length", U32, FFN), ("llama.attention.head_count", U32, HEADS), ("llama.attention.head_count_kv", U32, HEADS),
        ("llama.attention.key_length", U32, HEAD_DIM), ("llama.attention.value_length", U32, HEAD_DIM),
        ("llama.attention.layer_norm_rms_epsilon", F32T, EPS), ("llama.rope.dimension_count", U32, HEAD_DIM),
        ("llama.rope.freq_base", F32T, ROPE_BASE), ("llama.vocab_size", U32, VOCAB),
        ("tokenizer.ggml.model", STR, "gpt2"), ("tokenizer.ggml.pre", STR, "default"),
        ("tokenizer.ggml.tokens", (ARR, STR), TOKENS),
        ("tokenizer.ggml.token_type", (ARR, I32), [1] * 256 + [3] * len(CONTROL) + [4] * len(MARKS)),
        ("tokenizer.ggml.merges", (ARR, STR), []),
        ("tokenizer.ggml.bos_token_id", U32, BOS), ("tokenizer.ggml.eos_token_id", U32, END), ("tokenizer.ggml.padding_token_id", U32, BOS),
        ("tokenizer.ggml.add_bos_token", BOOL, False), ("tokenizer.ggml.add_eos_token", BOOL, False),
    ]

    def s(x):
        b = x.encode("utf-8")
        return struct.pack("<Q", len(b)) + b

    def val(t, v):
        return {U32: lambda: struct.pack("<I", v), I32: lambda: struct.pack("<i", v), F32T: lambda: struct.pack("<f", v),
                BOOL: lambda: struct.pack("<B", v), STR: lambda: s(v)}[t]()

    ts = tensors(model)
    out = struct.pack("<4sIQQ", b"GGUF", 3, len(ts), len(meta))
    for k, t, v in meta:
        out += s(k)
        if isinstance(t, tuple):
            out += struct.pack("<IIQ", ARR, t[1], len(v)) + b"".join(val(t[1], x) for x in v)
        else:
            out += struct.pack("<I", t) + val(t, v)
    blobs, off = [], 0
    for n, w in ts.items():
        half = w.ndim == 2
        b = np.ascontiguousarray(w, np.float16 if half else np.float32).tobytes()
        out += s(n) + struct.pack("<I", w.ndim) + b"".join(struct.pack("<Q", d) for d in w.shape[::-1]) + struct.pack("<IQ", 1 if half else 0, off)
        b += b"\0" * (-len(b) % 32)
        blobs.append(b)
        off += len(b)
    out += b"\0" * (-len(out) % 32)
    with open(path, "wb") as f:
        f.write(out + b"".join(blobs))


def read_gguf(path):
    """(metadata, name -> float32 array) of a GGUF file."""
    b, p = open(path, "rb").read(), 0

    def get(fmt):
        nonlocal p
        v = struct.unpack_from("<" + fmt, b, p)
        p += struct.calcsize("<" + fmt)
        return v if len(v) > 1 else v[0]

    def text():
        nonlocal p
        n = get("Q")
        p += n
        return b[p - n:p].decode("utf-8")

    def val(t):
        if t == STR:
            return text()
        if t == ARR:
            et, n = get("IQ")
            return [val(et) for _ in range(n)]
        return get({U32: "I", I32: "i", F32T: "f", BOOL: "B"}[t])

    magic, version, nt, nm = get("4sIQQ")
    assert magic == b"GGUF" and version == 3
    meta = {}
    for _ in range(nm):
        k = text()
        meta[k] = val(get("I"))
    info = []
    for _ in range(nt):
        n = text()
        nd = get("I")
        shape = [get("Q") for _ in range(nd)][::-1]
        info.append((n, shape) + get("IQ"))
    p += -p % 32
    return meta, {n: np.frombuffer(b, np.float16 if t == 1 else np.float32, int(np.prod(sh)), p + o).reshape(sh).astype(np.float32) for n, sh, t, o in info}


def load_gguf(path):
    """The torch model with a GGUF file's (rounded) weights."""
    _, w = read_gguf(path)
    m = Pocket()
    with torch.no_grad():
        for n, t in tensors(m).items():
            t[...] = w[n]                       # tensors() gives views of the parameters
    return m.eval()


class NumpyLlama:
    """A second, independent implementation in numpy: one sequence, a key/value cache, everything read from the GGUF."""

    def __init__(self, path):
        self.m, self.w = read_gguf(path)
        g = lambda k: self.m["llama." + k]
        self.L, self.H, self.D, self.eps = g("block_count"), g("attention.head_count"), g("attention.key_length"), g("attention.layer_norm_rms_epsilon")
        self.freq = g("rope.freq_base") ** (-np.arange(0, self.D, 2, dtype=np.float32) / self.D)

    def norm(self, x, n):
        return x / np.sqrt((x * x).mean() + self.eps) * self.w[n + ".weight"]

    def rope(self, x, pos):
        c, s = np.cos(pos * self.freq), np.sin(pos * self.freq)
        y = np.empty_like(x)
        y[:, 0::2] = x[:, 0::2] * c - x[:, 1::2] * s
        y[:, 1::2] = x[:, 0::2] * s + x[:, 1::2] * c
        return y

    def step(self, tok, pos, cache):
        w, x = self.w, self.w["token_embd.weight"][tok]
        for i in range(self.L):
            b = "blk.%d." % i
            h = self.norm(x, b + "attn_norm")
            q, k, v = [(w[b + n + ".weight"] @ h).reshape(self.H, self.D) for n in ("attn_q", "attn_k", "attn_v")]
            cache[i][0].append(self.rope(k, pos))
            cache[i][1].append(v)
            K, V = np.stack(cache[i][0], 1), np.stack(cache[i][1], 1)           # [H, t, D]
            s = np.einsum("hd,htd->ht", self.rope(q, pos), K) / math.sqrt(self.D)
            p = np.exp(s - s.max(-1, keepdims=True))
            a = np.einsum("ht,htd->hd", p / p.sum(-1, keepdims=True), V).reshape(-1)
            x = x + w[b + "attn_output.weight"] @ a
            h = self.norm(x, b + "ffn_norm")
            g = w[b + "ffn_gate.weight"] @ h
            x = x + w[b + "ffn_down.weight"] @ (g / (1 + np.exp(-g)) * (w[b + "ffn_up.weight"] @ h))
        return w["output.weight"] @ self.norm(x, "output_norm")

    def greedy(self, prompt, limit=300):
        cache, out = [([], []) for _ in range(self.L)], []
        for i, t in enumerate(prompt):
            y = self.step(t, i, cache)
        eos = self.m["tokenizer.ggml.eos_token_id"]
        while int(y.argmax()) != eos and len(out) < limit:
            out.append(int(y.argmax()))
            y = self.step(out[-1], len(prompt) + len(out) - 1, cache)
        return out


# ---- evaluation --------------------------------------------------------------------------------------------------------------
def cases(seed, n):
    """n held-out cases for every behaviour: (behaviour, messages so far, expected text)."""
    g, out = Gen(seed), []
    for kind in Gen.SINGLE + ["help"]:
        for _ in range(n):
            ms = g.conversation(kind, follow=False)[1]
            out.append((kind, ms[:1], ms[1]))
    want = {"two: 1st call": n, "two: 2nd call": n, "two: closing": n, "after result": n, "after error": n, "after denial": n}
    while any(want.values()):
        kind, ms = g.conversation(g.c(["two", None]), follow=True)
        for i, m in enumerate(ms):
            if m["role"] != "assistant" or len(ms) < 4:
                continue
            name = "after denial" if m["content"].startswith("Und") else "after error" if m["content"].startswith("The tool failed") else "after result"
            if kind == "two":
                name = "two: 1st call" if i == 1 else "two: 2nd call" if m.get("call") else "two: closing" if i == 5 and name == "after result" else name
            elif i == 1:
                continue
            if want[name]:
                want[name] -= 1
                out.append((name, ms[:i], m))
    return out


def expected(m):
    return call_text(m["call"]) if m.get("call") else m["content"]


def run_cases(model, cs, batch=96):
    """Greedy outputs of the model for the cases, in order."""
    order = sorted(range(len(cs)), key=lambda i: len(render(cs[i][1])))
    outs = [None] * len(cs)
    for s in range(0, len(order), batch):
        part = order[s:s + batch]
        for i, o in zip(part, model.greedy([encode(render(cs[i][1])) for i in part])):
            outs[i] = decode(o)
    return outs


def evaluate(a):
    torch.set_num_threads(a.threads)
    model = load_gguf(a.gguf)
    cs = cases(a.seed, a.n)
    outs = run_cases(model, cs)
    good, total = {}, {}
    for (kind, ms, m), o in zip(cs, outs):
        total[kind] = total.get(kind, 0) + 1
        good[kind] = good.get(kind, 0) + (o == expected(m))
        if o != expected(m) and a.show:
            print(kind, repr(ms[0]["content"] if len(ms) == 1 else render(ms)), "\n   want", expected(m), "\n   got ", o)
    for k in total:
        print("%-15s %5.1f %%  (%d of %d)" % (k, 100 * good[k] / total[k], good[k], total[k]))
    calls = [k for k in total if k not in ("help", "two: closing", "after result", "after error", "after denial")]
    g, t = sum(good[k] for k in calls), sum(total[k] for k in calls)
    print("%-15s %5.1f %%  (%d of %d)" % ("tool calls", 100 * g / t, g, t))
    print("%-15s %5.1f %%  (%d of %d)" % ("all", 100 * sum(good.values()) / sum(total.values()), sum(good.values()), sum(total.values())))


def api_messages(ms):
    """Messages in the form of Ollama's /api/chat."""
    out = []
    for m in ms:
        if m.get("call"):
            out.append({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": m["call"][0], "arguments": m["call"][1]}}]})
        else:
            out.append({"role": m["role"], "content": m["content"]})
    return out


def write_cases(a):
    cs = cases(a.seed, 12)
    random.Random(a.seed).shuffle(cs)
    with open(a.out, "w") as f:
        for kind, ms, m in cs[:200]:
            row = {"behaviour": kind, "messages": api_messages(ms), "prompt": render(ms)}
            row["expected"] = {"name": m["call"][0], "arguments": m["call"][1]} if m.get("call") else None
            row["expected_text"] = expected(m)
            f.write(json.dumps(row, ensure_ascii=False) + "\n")


def verify(a):
    torch.set_num_threads(a.threads)
    cs = cases(a.seed, 4)
    outs, ref, bad = run_cases(load_gguf(a.gguf), cs), NumpyLlama(a.gguf), 0
    for (kind, ms, m), o in zip(cs, outs):
        o2 = decode(ref.greedy(encode(render(ms))))
        if o != o2:
            bad += 1
            print("differs:", repr(render(ms)), o, o2)
    print("numpy and torch agree on %d of %d greedy outputs" % (len(cs) - bad, len(cs)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["train", "export", "eval", "cases", "verify", "ask"])
    p.add_argument("text", nargs="*")
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--minutes", type=float, default=30)
    p.add_argument("--steps", type=int, default=0)
    p.add_argument("--tokens", type=int, default=2048)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--warmup", type=int, default=100)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--echo", type=float, default=0.06, help="share of the run that only practises copying")
    p.add_argument("--init")
    p.add_argument("--out", default="run")
    p.add_argument("--ckpt", default="run/last.pt")
    p.add_argument("--gguf", default="../pocket.gguf")
    p.add_argument("--n", type=int, default=120)
    p.add_argument("--show", action="store_true")
    a = p.parse_intermixed_args()
    if a.seed is None:
        a.seed = {"train": 1, "cases": 800001, "verify": 700001}.get(a.what, 900001)
    if a.what == "export":
        m = Pocket()
        if a.ckpt != "none":
            m.load_state_dict(torch.load(a.ckpt)["model"])
        write_gguf(m, a.gguf)
        print(a.gguf, os.path.getsize(a.gguf), "bytes")
    elif a.what == "ask":
        m = load_gguf(a.gguf)
        for t in a.text:
            print(decode(m.greedy([encode(render([{"role": "user", "content": t}]))])[0]))
    else:
        {"train": train, "eval": evaluate, "cases": write_cases, "verify": verify}[a.what](a)


if __name__ == "__main__":
    main()
