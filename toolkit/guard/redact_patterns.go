package guard

import (
	"regexp"
	"strings"
)

// secretPattern is a well-known form of a credential. Only texts that contain a
// hint are searched, since most texts contain none.
type secretPattern struct {
	kind  string
	hints []string // lower case; at least one is in every match
	re    *regexp.Regexp
	// keep is how many leading groups stay in the text, before the secret.
	keep int
	// plausible, if set, rejects matches that are ordinary words.
	plausible func(secret string) bool
}

var secretPatterns = []secretPattern{
	{
		kind: "private-key", hints: []string{"private key"},
		re: regexp.MustCompile(`(?s)-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`),
	},
	{
		kind: "github-token", hints: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
		re: regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})`),
	},
	{
		kind: "gitlab-token", hints: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"},
		re: regexp.MustCompile(`\bgl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,}`),
	},
	{
		kind: "slack-token", hints: []string{"xox", "xapp-"},
		re: regexp.MustCompile(`\b(?:xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}`),
	},
	{
		kind: "slack-webhook", hints: []string{"hooks.slack.com"},
		re: regexp.MustCompile(`(https://hooks\.slack\.com/(?:services|workflows)/)([A-Za-z0-9_/+-]{10,})`), keep: 1,
	},
	{
		kind: "aws-key-id", hints: []string{"akia", "asia"},
		re: regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z2-7]{16}\b`),
	},
	{
		kind: "aws-secret", hints: []string{"aws_secret", "secretaccesskey", "secret_access_key"},
		re: regexp.MustCompile(`(?i)((?:aws_)?secret_?access_?key["']?[ \t]{0,3}[:=][ \t]{0,3}["']?)([A-Za-z0-9/+=]{40})`), keep: 1,
	},
	{
		kind: "anthropic-key", hints: []string{"sk-ant-"},
		re: regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{20,}`),
	},
	{
		kind: "openai-key", hints: []string{"sk-"},
		re: regexp.MustCompile(`\bsk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})`), plausible: hasDigit,
	},
	{
		kind: "google-key", hints: []string{"aiza", "ya29.", "gocspx-"},
		re: regexp.MustCompile(`\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})`),
	},
	{
		kind: "stripe-key", hints: []string{"_live_", "_test_"},
		re: regexp.MustCompile(`\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}`),
	},
	{
		kind: "registry-token", hints: []string{"npm_", "pypi-", "hf_", "dckr_pat_"},
		re: regexp.MustCompile(`\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,})`),
	},
	{
		kind: "jwt", hints: []string{"eyj"},
		re: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`),
	},
	{
		kind: "authorization", hints: []string{"authorization"}, keep: 1,
		re: regexp.MustCompile(`(?i)(\bauthorization["']?[ \t]{0,3}[:=][ \t]{0,3}["']?(?:basic|bearer|token|digest)[ \t]{1,3})([A-Za-z0-9._~+/=-]{8,})`),
	},
	{
		kind: "authorization", hints: []string{"authorization"}, keep: 1, plausible: hasDigit,
		re: regexp.MustCompile(`(?i)(\bauthorization["']?[ \t]{0,3}[:=][ \t]{0,3}["']?)([A-Za-z0-9._~+/=-]{16,})`),
	},
	{
		kind: "bearer-token", hints: []string{"bearer"},
		re:   regexp.MustCompile(`(?i)(\bbearer[ \t]{1,3})([A-Za-z0-9._~+/=-]{16,})`),
		keep: 1, plausible: hasDigit,
	},
	{
		kind: "url-password", hints: []string{"://"},
		re: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/:@'"<>]*:)([^\s/@'"<>]+)(?:@)`), keep: 1,
		plausible: func(s string) bool { return !placeholder(s) },
	},
	{
		kind: "url-secret", hints: []string{"password=", "passwd=", "pwd=", "token=", "key=", "secret=", "signature=", "sig="},
		re:   regexp.MustCompile(`(?i)([?&](?:password|passwd|pwd|(?:access_|refresh_|id_|auth_)?token|api_?key|(?:client_)?secret|x-amz-signature|signature|sig)=)([^&\s"'<>#\\]{6,})`),
		keep: 1, plausible: func(s string) bool { return !placeholder(s) },
	},
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// placeholder recognises what manuals write in place of a secret.
func placeholder(s string) bool {
	l := strings.ToLower(s)
	switch {
	case strings.Trim(l, "*x.") == "", strings.HasPrefix(l, "$"), strings.HasPrefix(l, "{"), strings.HasPrefix(l, "%s"),
		strings.HasPrefix(l, "[redacted"):
		return true
	}
	return l == "password" || l == "pass" || l == "secret" || l == "token" || l == "changeme" || l == "example"
}
