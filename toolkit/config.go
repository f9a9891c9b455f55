package toolkit

import (
	"context"
	"net"
	"net/url"
	"os"
)

// Config is what tools need to know from the settings: where services are, and
// what they may be asked with. Keys and tokens come from settings.yml or from
// the usual variables of the environment; each is known to the redactor.
type Config struct {
	Search   SearchConfig   `yaml:"search"`
	Channels ChannelsConfig `yaml:"channels"`
	Images   ImagesConfig   `yaml:"images"`
	Speech   SpeechConfig   `yaml:"speech"`
	Code     CodeConfig     `yaml:"code"`
}

// SearchConfig says which search services there are. They are tried in Order;
// those without a key, or not named in it, come after in the order of the
// fields.
type SearchConfig struct {
	Order   []string `yaml:"order"` // brave, serper, searxng, tavily
	Brave   Service  `yaml:"brave"`
	Serper  Service  `yaml:"serper"`
	Searxng Service  `yaml:"searxng"` // needs a URL and no key
	Tavily  Service  `yaml:"tavily"`
}

// Service is one HTTP service.
type Service struct {
	Key string `yaml:"key"`
	URL string `yaml:"url"` // empty: the service's own
}

// ChannelsConfig says where messages may be sent.
type ChannelsConfig struct {
	Slack    Service `yaml:"slack"` // key: a bot token
	Discord  Service `yaml:"discord"`
	Telegram Service `yaml:"telegram"`
}

// ImagesConfig is the service that makes images, in OpenAI's form.
type ImagesConfig struct {
	BaseURL string `yaml:"base_url"` // such as http://127.0.0.1:11434/v1
	Key     string `yaml:"key"`
	Model   string `yaml:"model"`
}

// SpeechConfig says how text is spoken.
type SpeechConfig struct {
	Program string `yaml:"program"` // piper, espeak-ng, say, spd-say; empty: the first that is there
	Voice   string `yaml:"voice"`
}

// CodeConfig overrides the commands of the code tools, each a command line.
type CodeConfig struct {
	Test      string `yaml:"test"`
	Typecheck string `yaml:"typecheck"`
	Lint      string `yaml:"lint"`
	Build     string `yaml:"build"`
	Format    string `yaml:"format"`
}

// WithEnv fills what the settings leave open from the environment.
func (c Config) WithEnv() Config {
	fill := func(v *string, names ...string) {
		for _, n := range names {
			if *v == "" {
				*v = os.Getenv(n)
			}
		}
	}
	fill(&c.Search.Brave.Key, "BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
	fill(&c.Search.Serper.Key, "SERPER_API_KEY")
	fill(&c.Search.Tavily.Key, "TAVILY_API_KEY")
	fill(&c.Search.Searxng.URL, "SEARXNG_URL")
	fill(&c.Channels.Slack.Key, "SLACK_BOT_TOKEN")
	fill(&c.Channels.Discord.Key, "DISCORD_BOT_TOKEN", "DISCORD_TOKEN")
	fill(&c.Channels.Telegram.Key, "TELEGRAM_BOT_TOKEN")
	if c.Images.BaseURL != "" {
		fill(&c.Images.Key, "OPENAI_API_KEY")
	}
	return c
}

// Secrets are the keys and tokens in it.
func (c Config) Secrets() []string {
	var out []string
	for _, s := range []string{
		c.Search.Brave.Key, c.Search.Serper.Key, c.Search.Tavily.Key, c.Search.Searxng.Key,
		c.Channels.Slack.Key, c.Channels.Discord.Key, c.Channels.Telegram.Key, c.Images.Key,
	} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Hosts are the host:port of services that the person named in the settings: a
// private one may be dialled because of that, and only that one.
func (c Config) Hosts() []string {
	var out []string
	for _, s := range []string{
		c.Search.Brave.URL, c.Search.Serper.URL, c.Search.Tavily.URL, c.Search.Searxng.URL,
		c.Channels.Slack.URL, c.Channels.Discord.URL, c.Channels.Telegram.URL, c.Images.BaseURL,
	} {
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" {
			continue
		}
		port := u.Port()
		if port == "" {
			if port = "443"; u.Scheme == "http" {
				port = "80"
			}
		}
		out = append(out, net.JoinHostPort(u.Hostname(), port))
	}
	return out
}

// Asker asks a local model something in a small fresh context, apart from the
// conversation: no tools, no history. What it answers is a model's words.
type Asker interface {
	// Ask returns the answer to a question. With images it takes a model that
	// can see, or says that there is none.
	Ask(ctx context.Context, q Question) (string, error)
	// Sees returns the name of the model that looks at images, or why there is
	// none.
	Sees(ctx context.Context) (string, error)
	// Loaded names the models that are in memory, with how much of each the GPU
	// holds.
	Loaded(ctx context.Context) ([]string, error)
}

// Question is what an [Asker] is asked.
type Question struct {
	System string // what the model is to do
	Prompt string
	Images [][]byte
	Tokens int // most tokens of the answer; 0: 512
}
