package guard

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func testRedactor() *Redactor {
	return NewRedactor([]string{
		"MY_API_KEY=zx81-Sp3ctrum", "DB_PASSWORD=correct horse battery", "HOME_TOKEN=/run/secrets/x", "SHORT_TOKEN=abc", "FLAG_TOKEN=undefined", "USER=somebody-long", "MODE_SECRET=password",
	}, []Secret{{Kind: "vault key", Value: "q\"uoted\\V4lue"}, {Kind: "k", Value: "line-one-1\nline-two-2"}})
}

func TestRedactText(t *testing.T) {
	r := testRedactor()
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----"
	for in, want := range map[string]string{
		"k=zx81-Sp3ctrum;": "k=[REDACTED:my_api_key];", "x correct horse battery y": "x [REDACTED:db_password] y",
		"b64 " + base64.StdEncoding.EncodeToString([]byte("zx81-Sp3ctrum")): "b64 [REDACTED:my_api_key]",
		"correct+horse+battery":                                            "[REDACTED:db_password]",
		"q\"uoted\\V4lue":                                                  "[REDACTED:vault-key]",
		"a " + key + " b":                                                  "a [REDACTED:private-key] b",
		"-----BEGIN RSA PRIVATE KEY-----\nabc (cut":                        "[REDACTED:private-key]",
		"ghp_" + strings.Repeat("a1", 18):                                  "[REDACTED:github-token]",
		"github_pat_" + strings.Repeat("a1", 15):                           "[REDACTED:github-token]",
		"glpat-" + strings.Repeat("a1", 10):                                "[REDACTED:gitlab-token]",
		"xoxb-1234567890-abc":                                              "[REDACTED:slack-token]",
		"https://hooks.slack.com/services/T0/B0/abcdef0":                   "https://hooks.slack.com/services/[REDACTED:slack-webhook]",
		"AKIAIOSFODNN7EXAMPLE":                                             "[REDACTED:aws-key-id]",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "aws_secret_access_key = [REDACTED:aws-secret]",
		"sk-ant-api03-" + strings.Repeat("a1", 20):                         "[REDACTED:anthropic-key]",
		"sk-proj-" + strings.Repeat("a1", 20):                              "[REDACTED:openai-key]",
		"AIza" + strings.Repeat("a1B", 11) + "cd":                          "[REDACTED:google-key]",
		"eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2lnbmF0dXJl":                       "[REDACTED:jwt]",
		"Authorization: Bearer abc123def456":                               "Authorization: Bearer [REDACTED:authorization]",
		"Authorization: Basic dXNlcjpwYXNz":                                "Authorization: Basic [REDACTED:authorization]",
		"bearer 0123456789abcdef0":                                         "bearer [REDACTED:bearer-token]",
		"postgres://u:s3cr3tpw@db:5432/x":                                  "postgres://u:[REDACTED:url-password]@db:5432/x",
		"http://x/?a=1&access_token=abcdef12&b=2":                          "http://x/?a=1&access_token=[REDACTED:url-secret]&b=2",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("Text(%q)\n got %q\nwant %q", in, got, want)
		}
	}
	for _, same := range []string{
		"", "plain text", "commit 3f786850e387550fdab836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "abc undefined password /run/secrets/x somebody-long",
		"the bearer of authentication-documents", "authorization: none", "postgres://user:password@host/db", "https://x/?key=$API_KEY_HERE",
		"task-list sk-learn risk-adjusted-return-on-capital", "localhost:8080/path", "https://example.com/a:b@c",
	} {
		if got := r.Text(same); got != same {
			t.Errorf("Text(%q) = %q, want it unchanged", same, got)
		}
	}
}

func TestRedactJSON(t *testing.T) {
	r := testRedactor()
	in := `{"a": "zx81-Sp3ctrum", "n": 1.50, "q\"uoted\\V4lue": ["line-one-1\nline-two-2", "x\u0020y"], "k":"-----BEGIN PRIVATE KEY-----\nabc"}`
	want := `{"a": "[REDACTED:my_api_key]", "n": 1.50, "[REDACTED:vault-key]": ["[REDACTED:k]", "x\u0020y"], "k":"[REDACTED:private-key]"}`
	if got := string(r.JSON(json.RawMessage(in))); got != want {
		t.Errorf("JSON\n got %s\nwant %s", got, want)
	}
	if got := string(r.JSON(json.RawMessage(`{"a": zx81-Sp3ctrum`))); strings.Contains(got, "Sp3ctrum") {
		t.Errorf("broken JSON = %s", got)
	}
	if in := []byte("nothing here"); &r.Bytes(in)[0] != &in[0] {
		t.Error("Bytes copied a clean text")
	}
}

// TestStreamHidesSecretsHoweverTheyAreCut writes a text in random pieces.
func TestStreamHidesSecretsHoweverTheyAreCut(t *testing.T) {
	r := testRedactor()
	secrets := []string{
		"zx81-Sp3ctrum", "correct horse battery", "line-one-1\nline-two-2", "ghp_" + strings.Repeat("a1", 18),
		"-----BEGIN RSA PRIVATE KEY-----\nKEYBYTES\nKEYBYTES\n-----END RSA PRIVATE KEY-----",
	}
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(append(secrets, "a word", "\n", "line-one-1", "\n\n", "correct")), 1, 20).Draw(rt, "words")
		text := strings.Join(words, " ")
		var out bytes.Buffer
		w := r.Writer(&out)
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "cut")
			if _, err := w.Write(rest[:n]); err != nil {
				rt.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		if got, want := out.String(), r.Text(text); got != want {
			rt.Fatalf("stream of %q\n got %q\nwant %q", text, got, want)
		}
	})
}

func TestStreamIsBounded(t *testing.T) {
	r := testRedactor()
	for name, c := range map[string]struct{ unit, secret string }{
		"no line ends":   {"word ", "zx81-Sp3ctrum"},
		"no spaces":      {"x", "zx81-Sp3ctrum"},
		"an endless key": {"KEYBYTES\n", "KEYBYTES"},
		"an endless JWT": {"abc1", "abc1abc1"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w := r.Writer(&out)
			switch name {
			case "an endless key":
				_, _ = w.Write([]byte("-----BEGIN RSA PRIVATE KEY-----\n"))
			case "an endless JWT":
				_, _ = w.Write([]byte("eyJhbGciOiJI.eyJzdWIiOiIx."))
			}
			for range 20 {
				_, _ = w.Write([]byte(strings.Repeat(c.unit, 4000)))
				if !strings.HasPrefix(name, "an endless") {
					_, _ = w.Write([]byte(" " + c.secret + " "))
				}
			}
			if len(w.buf) > maxHeldKey+maxHeldLine {
				t.Errorf("%d bytes are held back", len(w.buf))
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), c.secret) {
				t.Error("the secret passed")
			}
		})
	}
}
