package guard

import (
	"net/netip"
	"testing"
)

func TestJudgeAddr(t *testing.T) {
	for a, want := range map[string]Rule{
		"1.1.1.1": "", "8.8.8.8": "", "93.184.216.34": "", "2606:4700:4700::1111": "", "2a00:1450::1": "", "::ffff:8.8.8.8": "", "64:ff9b::808:808": "",
		"0.0.0.0": RuleAddress, "0.1.2.3": RuleAddress, "127.0.0.1": RuleAddress, "127.9.9.9": RuleAddress, "10.0.0.1": RuleAddress,
		"172.16.0.1": RuleAddress, "172.31.255.255": RuleAddress, "172.32.0.1": "", "192.168.1.1": RuleAddress, "169.254.1.1": RuleAddress,
		"100.64.0.1": RuleAddress, "100.128.0.1": "", "192.0.0.1": RuleAddress, "192.0.2.1": RuleAddress, "198.18.0.1": RuleAddress, "198.51.100.1": RuleAddress,
		"203.0.113.1": RuleAddress, "224.0.0.1": RuleAddress, "240.0.0.1": RuleAddress, "255.255.255.255": RuleAddress,
		"::": RuleAddress, "::1": RuleAddress, "::7f00:1": RuleAddress, "::808:808": RuleAddress, "::ffff:127.0.0.1": RuleAddress, "::ffff:7f00:1": RuleAddress,
		"fe80::1": RuleAddress, "fe90::1": RuleAddress, "febf::1": RuleAddress, "fec0::1": RuleAddress, "fc00::1": RuleAddress, "fd12::1": RuleAddress, "ff02::1": RuleAddress,
		"64:ff9b::7f00:1": RuleAddress, "64:ff9b::a00:1": RuleAddress, "64:ff9b:1::1": RuleAddress, "2002:7f00:1::": RuleAddress, "2002:808:808::": RuleAddress,
		"2001::1": RuleAddress, "2001:db8::1": RuleAddress, "2001:20::1": RuleAddress, "3fff::1": RuleAddress, "100::1": RuleAddress, "4000::1": RuleAddress, "fe80::1%eth0": RuleAddress,
		"169.254.169.254": RuleMetadata, "::ffff:a9fe:a9fe": RuleMetadata, "64:ff9b::a9fe:a9fe": RuleMetadata, "2002:a9fe:a9fe::": RuleMetadata, "::a9fe:a9fe": RuleMetadata,
		"fd00:ec2::254": RuleMetadata, "100.100.100.200": RuleMetadata, "168.63.129.16": RuleMetadata, "2001:0:1:2:3:4:5601:5601": RuleMetadata,
	} {
		if got, reason := judgeAddr(netip.MustParseAddr(a)); got != want || (got != "" && reason == "") {
			t.Errorf("judgeAddr(%s) = %q, %q, want %q", a, got, reason, want)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for raw, want := range map[string]struct {
		rule Rule
		url  string
	}{
		"https://Example.COM/a?b#c":         {"", "https://example.com/a?b"},
		"http://example.com.:80/":           {"", "http://example.com/"},
		"https://bücher.example/":           {"", "https://xn--bcher-kva.example/"},
		"https://pаypal.com/":               {"", "https://xn--pypal-4ve.com/"},
		"http://[2606:4700::1]:8080/":       {"", "http://[2606:4700::1]:8080/"},
		"http://8.8.8.8/":                   {"", "http://8.8.8.8/"},
		"file:///etc/passwd":                {RuleScheme, ""},
		"ftp://example.com/":                {RuleScheme, ""},
		"gopher://example.com/":             {RuleScheme, ""},
		"javascript:alert(1)":               {RuleScheme, ""},
		"data:text/html,x":                  {RuleScheme, ""},
		"not a url":                         {RuleScheme, ""},
		"":                                  {RuleScheme, ""},
		"http://":                           {RuleURL, ""},
		"http:example.com":                  {RuleURL, ""},
		"http://user:pw@example.com/":       {RuleURL, ""},
		"http://example.com@127.0.0.1/":     {RuleURL, ""},
		"http://evil%00.example.com/":       {RuleURL, ""},
		`http://a\@127.0.0.1/`:              {RuleURL, ""},
		"http://127.1/":                     {RuleURL, ""},
		"http://2130706433/":                {RuleURL, ""},
		"http://0x7f.1/":                    {RuleURL, ""},
		"http://0x7f000001/":                {RuleURL, ""},
		"http://0177.0.0.1/":                {RuleURL, ""},
		"http://0/":                         {RuleURL, ""},
		"http://127.0.0.1./":                {RuleURL, ""},
		"http://①②⑦.⓪.⓪.①/":                 {RuleURL, ""},
		"http://１２７.0.0.1/":                 {RuleURL, ""},
		"http://127。0。0。1/":                 {RuleURL, ""},
		"http://exa mple.com/":              {RuleURL, ""},
		"http://exa_mple.com/":              {RuleURL, ""},
		"http://-x.com/":                    {RuleURL, ""},
		"http://a..b/":                      {RuleURL, ""},
		"http://[fe80::1%25eth0]/":          {RuleURL, ""},
		"http://example.com:0/":             {RuleURL, ""},
		"http://example.com:22/":            {RuleURL, ""},
		"http://example.com:99999/":         {RuleURL, ""},
		"http://metadata.google.internal/":  {RuleMetadata, ""},
		"http://METADATA.google.internal./": {RuleMetadata, ""},
	} {
		got, err := parseTarget("fetch", raw)
		if want.rule == "" {
			if err != nil || got.URL != want.url {
				t.Errorf("parseTarget(%q) = %q, %v, want %q", raw, got.URL, err, want.url)
			}
			continue
		}
		if d, ok := AsDenied(err); !ok || d.Rule != want.rule {
			t.Errorf("parseTarget(%q) = %q, %v, want %s", raw, got.URL, err, want.rule)
		}
	}
}

func FuzzURL(f *testing.F) {
	for _, s := range []string{"http://example.com/", "http://①.1/", "http://[::1]:80/", "http://a@b/", "https://x.0x1/", "http://0000000%8000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := parseTarget("fetch", raw)
		if err != nil {
			return
		}
		if !isASCII(got.Host) || got.Port == 0 {
			t.Fatalf("parseTarget(%q) = %+v", raw, got)
		}
		again, err := parseTarget("fetch", got.URL)
		if err != nil || again.HostPort() != got.HostPort() {
			t.Fatalf("%q became %q, which is %q, %v", raw, got.URL, again.HostPort(), err)
		}
	})
}
