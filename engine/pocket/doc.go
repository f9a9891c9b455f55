// Package pocket is a small language model that is built into the program and
// served over Ollama's HTTP API, so that the rest of chela has one code path
// for it and for a real Ollama.
//
// # What the model is
//
// pocket is a demonstration model, and the program calls it that. It is a real
// neural network (a LLaMA of 1.58 million parameters, trained from random
// weights on synthetic text), but it understands about a dozen kinds of short
// English request (list, read, search, find, run, write, edit, git status,
// fetch, remember, recall, finish, two of them in a row), turns each into one
// tool call, and closes with one line. It does not read the tools' schemas or
// the system prompt, remembers no earlier turn, and knows nothing. The folder
// train has the data generator, the trainer, the Modelfile and the measured
// accuracy.
//
// # What the package guarantees
//
// For the same request the text and the tool calls are those of Ollama 0.17.4
// serving the same file: the tests replay 150 recorded conversations. (Ollama
// computes with other rounding; where two tokens are equally likely to the last
// digits, the choice could differ.) The GGUF file is read by Ollama's own
// fs/ggml, the Modelfile by its parser, the chat template is rendered by its
// template package, and tool calls are cut out of the text by its tools.Parser,
// used in the order in which Ollama's chat handler uses it. Ollama's runner and
// server packages need cgo; what they do to a prompt and to generated text
// (truncation, context shift, stop sequences, UTF-8 boundaries, prefix reuse,
// counters) is written again here.
//
// Decoding is always greedy, as the Modelfile asks. The options num_predict,
// num_ctx, num_keep and stop are honoured, and so are keep_alive, truncate,
// shift, logprobs and top_logprobs; sampling options are checked for their type
// and have no effect. The context window is at most 4096 tokens, one token a
// byte. What the model cannot do is refused with status 400 and not ignored:
// think, format, suffix and images.
//
// Four differences from Ollama are on purpose. Embeddings are hashed character
// n-grams, not taken from the network: they compare spelling, not meaning. When
// the window fills up while generating, the tokens that stay are computed
// again, where llama.cpp only turns their keys. A generation that repeats itself
// runs to num_predict, where Ollama breaks the stream off without a last chunk.
// Status 400 answers an option of the wrong type, where Ollama answers 500.
//
// # Costs
//
// Importing the package does no work of its own: file, template and weights are
// read at the first request that needs them (about 10 ms). Ollama's template
// and fs/ggml parse a one-line template and look for a library folder when they
// are imported, 0.2 ms together. A loaded model holds 6.3 MB of float32 weights
// and 6 KB a token of key/value cache, allocated as the context grows; both are
// given back when keep_alive (5 minutes unless the request says otherwise) has
// passed. Nothing runs while no request runs.
//
// Requests may come from any number of goroutines. One is computed at a time,
// the others queue; cancelling the request's context ends it before the next
// token. No goroutine outlives its request.
package pocket
