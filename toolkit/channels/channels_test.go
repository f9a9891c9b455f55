package channels

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela/toolkit"
	"chela/toolkit/guard"
	"chela/toolkit/service"
)

// sent is what a call must send.
type sent struct {
	args, method, path, body string
	dangerous                bool
}

var slackCalls = map[string]sent{
	"a message":           {`{"action":"send_message","channel":"C0123","text":"hi"}`, "POST", "/api/chat.postMessage", `{"channel":"C0123","text":"hi"}`, false},
	"an answer":           {`{"action":"send_message","channel":"#general","text":"hi","message_id":"1712345678.123456","options":{"reply_broadcast":"true"}}`, "POST", "/api/chat.postMessage", `{"channel":"#general","text":"hi","thread_ts":"1712345678.123456","reply_broadcast":true}`, false},
	"a reaction":          {`{"action":"add_reaction","channel":"C0123","message_id":"1712345678.123456","name":":+1:"}`, "POST", "/api/reactions.add", `{"channel":"C0123","timestamp":"1712345678.123456","name":"+1"}`, false},
	"a pin":               {`{"action":"pin_message","channel":"C0123","message_id":"1712345678.123456"}`, "POST", "/api/pins.add", `{"channel":"C0123","timestamp":"1712345678.123456"}`, false},
	"a private channel":   {`{"action":"create_channel","name":"notes","options":{"is_private":true}}`, "POST", "/api/conversations.create", `{"name":"notes","is_private":true}`, false},
	"a topic":             {`{"action":"set_topic","channel":"C0123","text":"t"}`, "POST", "/api/conversations.setTopic", `{"channel":"C0123","topic":"t"}`, false},
	"an invitation":       {`{"action":"invite_user","channel":"C0123","user":"U0123, U0456"}`, "POST", "/api/conversations.invite", `{"channel":"C0123","users":"U0123,U0456"}`, false},
	"an archived channel": {`{"action":"archive_channel","channel":"C0123"}`, "POST", "/api/conversations.archive", `{"channel":"C0123"}`, true},
}

const (
	c1 = "123456789012345678"
	m1 = "223456789012345678"
	u1 = "323456789012345678"
	g1 = "423456789012345678"
)

var discordCalls = map[string]sent{
	"a message":             {`{"action":"send_message","channel":"` + c1 + `","text":"hi @everyone"}`, "POST", "/api/v10/channels/" + c1 + "/messages", `{"content":"hi @everyone","allowed_mentions":{"parse":["users"]}}`, false},
	"an answer":             {`{"action":"send_message","channel":"` + c1 + `","text":"hi","message_id":"` + m1 + `","options":{"suppress_notifications":true}}`, "POST", "/api/v10/channels/" + c1 + "/messages", `{"content":"hi","allowed_mentions":{"parse":["users"]},"flags":4096,"message_reference":{"message_id":"` + m1 + `"}}`, false},
	"a reaction":            {`{"action":"send_reaction","channel":"` + c1 + `","message_id":"` + m1 + `","name":"👍"}`, "PUT", "/api/v10/channels/" + c1 + "/messages/" + m1 + "/reactions/%F0%9F%91%8D/@me", "", false},
	"an own emoji":          {`{"action":"send_reaction","channel":"` + c1 + `","message_id":"` + m1 + `","name":"<:crab:` + u1 + `>"}`, "PUT", "/api/v10/channels/" + c1 + "/messages/" + m1 + "/reactions/crab:" + u1 + "/@me", "", false},
	"a pin":                 {`{"action":"pin_message","channel":"` + c1 + `","message_id":"` + m1 + `"}`, "PUT", "/api/v10/channels/" + c1 + "/messages/pins/" + m1, "", false},
	"a thread alone":        {`{"action":"create_thread","channel":"` + c1 + `","name":"T"}`, "POST", "/api/v10/channels/" + c1 + "/threads", `{"name":"T","type":11}`, false},
	"a private thread":      {`{"action":"create_thread","channel":"` + c1 + `","name":"T","options":{"is_private":true,"auto_archive_duration":60}}`, "POST", "/api/v10/channels/" + c1 + "/threads", `{"name":"T","type":12,"auto_archive_duration":60}`, false},
	"a thread at a message": {`{"action":"create_thread","channel":"` + c1 + `","message_id":"` + m1 + `","name":"T"}`, "POST", "/api/v10/channels/" + c1 + "/messages/" + m1 + "/threads", `{"name":"T"}`, false},
	"a topic":               {`{"action":"set_channel_topic","channel":"` + c1 + `","text":"t"}`, "PATCH", "/api/v10/channels/" + c1, `{"topic":"t"}`, false},
	"a kick":                {`{"action":"kick_user","user":"` + u1 + `","options":{"guild_id":"` + g1 + `","reason":"too loud"}}`, "DELETE", "/api/v10/guilds/" + g1 + "/members/" + u1, "", true},
	"a ban":                 {`{"action":"ban_user","user":"` + u1 + `","options":{"guild_id":"` + g1 + `","delete_message_seconds":"60"}}`, "PUT", "/api/v10/guilds/" + g1 + "/bans/" + u1, `{"delete_message_seconds":60}`, true},
}

var telegramCalls = map[string]sent{
	"a message":          {`{"action":"send_message","channel":"@releases","text":"hi","options":{"parse_mode":"HTML"}}`, "POST", "sendMessage", `{"chat_id":"@releases","text":"hi","parse_mode":"HTML"}`, false},
	"an answer":          {`{"action":"send_message","channel":"-1001","text":"hi","message_id":"42"}`, "POST", "sendMessage", `{"chat_id":"-1001","text":"hi","reply_parameters":{"message_id":42}}`, false},
	"a photo by address": {`{"action":"send_photo","channel":"-1001","text":"c","options":{"url":"https://x.example/a.png"}}`, "POST", "sendPhoto", `{"chat_id":"-1001","caption":"c","photo":"https://x.example/a.png"}`, false},
	"a known document":   {`{"action":"send_document","channel":"-1001","options":{"file_id":"BQAC"}}`, "POST", "sendDocument", `{"chat_id":"-1001","document":"BQAC"}`, false},
	"a pin":              {`{"action":"pin_message","channel":"-1001","message_id":"42"}`, "POST", "pinChatMessage", `{"chat_id":"-1001","message_id":42}`, false},
	"a plain poll":       {`{"action":"create_poll","channel":"-1001","text":"When?","options":{"choices":["Fri","Mon"]}}`, "POST", "sendPoll", `{"chat_id":"-1001","question":"When?","options":[{"text":"Fri"},{"text":"Mon"}]}`, false},
	"a poll with all":    {`{"action":"create_poll","channel":"-1001","text":"When?","options":{"options":["Fri","Mon"],"is_anonymous":false,"type":"quiz","correct_option_id":1,"explanation":"e","open_period":60,"allows_multiple_answers":false}}`, "POST", "sendPoll", `{"chat_id":"-1001","question":"When?","options":[{"text":"Fri"},{"text":"Mon"}],"is_anonymous":false,"type":"quiz","correct_option_id":1,"explanation":"e","open_period":60,"allows_multiple_answers":false}`, false},
	"a title":            {`{"action":"set_chat_title","channel":"-1001","text":"T"}`, "POST", "setChatTitle", `{"chat_id":"-1001","title":"T"}`, false},
	"a description":      {`{"action":"set_chat_description","channel":"-1001","text":"D"}`, "POST", "setChatDescription", `{"chat_id":"-1001","description":"D"}`, false},
	"a ban":              {`{"action":"ban_user","channel":"-1001","user":"7"}`, "POST", "banChatMember", `{"chat_id":"-1001","user_id":7}`, true},
	"a ban with all":     {`{"action":"ban_user","channel":"-1001","user":"7","options":{"until_date":1767225600,"revoke_messages":true}}`, "POST", "banChatMember", `{"chat_id":"-1001","user_id":7,"until_date":1767225600,"revoke_messages":true}`, true},
	"a restriction": {
		`{"action":"restrict_user","channel":"-1001","user":"7","options":{"can_send_messages":true,"until_date":5}}`, "POST", "restrictChatMember",
		`{"chat_id":"-1001","user_id":7,"until_date":5,"permissions":{"can_send_messages":true,"can_send_photos":false,"can_send_documents":false,"can_send_polls":false,"can_send_other_messages":false,"can_add_web_page_previews":false,"can_invite_users":false,"can_pin_messages":false,"can_change_info":false}}`, true,
	},
}

func TestEachActionSendsWhatItShows(t *testing.T) {
	for _, s := range []struct {
		tool         toolkit.Tool
		calls        map[string]sent
		auth, answer string
		before       string // in the path
		shown        string // in its place
	}{
		{Slack(), slackCalls, "Bearer " + slackToken, `{"ok":true}`, "", ""},
		{Discord(), discordCalls, "Bot " + discordToken, `{"id":"5"}`, "", ""},
		{Telegram(), telegramCalls, "", `{"ok":true,"result":{"message_id":9}}`, "/bot" + telegramToken + "/", "/bot(token)/"},
	} {
		for name, c := range s.calls {
			t.Run(s.tool.Spec().Name+"/"+name, func(t *testing.T) {
				w := newWorld(t, s.answer)
				p, r, err := w.do(t, s.tool, c.args)
				if err != nil {
					t.Fatal(err)
				}
				if len(w.got) != 1 {
					t.Fatalf("%d requests", len(w.got))
				}
				got := w.got[0]
				if got.method != c.method || got.path != s.before+c.path || got.auth != s.auth {
					t.Errorf("sent %s %s as %q", got.method, got.path, got.auth)
				}
				if !strings.HasSuffix(p.Preview.URL, s.shown+c.path) || p.Preview.Method != c.method || len(p.Preview.Address) != 1 {
					t.Errorf("shown: %+v", p.Preview)
				}
				for what, body := range map[string]string{"sent": got.body, "shown": p.Preview.Body} {
					if diff := cmp.Diff(parsed(t, c.body), parsed(t, body)); diff != "" {
						t.Errorf("%s (-want):\n%s", what, diff)
					}
				}
				if (p.Level == toolkit.Dangerous) != c.dangerous || len(p.Effects) != 1 || p.Effects[0].Kind != toolkit.Dials {
					t.Errorf("level %v, effects %v", p.Level, p.Effects)
				}
				data, ok := r.Data.(Acted)
				if !ok || !data.OK || !strings.Contains(c.args, `"`+data.Action+`"`) {
					t.Errorf("data: %+v", r.Data)
				}
			})
		}
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestEachExampleIsARightCall(t *testing.T) {
	for _, p := range []*platform{slack, discord, telegram} {
		for name, act := range p.actions {
			t.Run(p.tool+"/"+name, func(t *testing.T) {
				w := newWorld(t, `{"ok":true}`)
				w.file(t, "chart.png", "PNG")
				w.file(t, "report.pdf", "PDF")
				if _, _, err := w.do(t, map[string]toolkit.Tool{"slack_actions": Slack(), "discord_actions": Discord(), "telegram_actions": Telegram()}[p.tool], act.example); err != nil {
					t.Errorf("%s: %v", act.example, err)
				}
			})
		}
	}
}

func TestAnAnswerWithoutContentIsSuccess(t *testing.T) {
	w := newWorld(t, "")
	w.status = http.StatusNoContent
	_, r, err := w.do(t, Discord(), discordCalls["a pin"].args)
	if err != nil || r.Text != "pinned in "+c1 {
		t.Errorf("%v, %q", err, r.Text)
	}
}

func TestAReasonGoesIntoTheServersLogAndIsShown(t *testing.T) {
	w := newWorld(t, "")
	w.status = http.StatusNoContent
	p, _, err := w.do(t, Discord(), discordCalls["a kick"].args)
	if err != nil {
		t.Fatal(err)
	}
	if w.got[0].reason != "too%20loud" || len(p.Preview.Headers) != 1 || p.Preview.Headers[0] != "X-Audit-Log-Reason: too%20loud" {
		t.Errorf("sent %q, shown %v", w.got[0].reason, p.Preview.Headers)
	}
}

func TestAFileOfTheWorkspaceIsSentAsItWasShown(t *testing.T) {
	w := newWorld(t, `{"ok":true,"result":{"message_id":9}}`)
	w.file(t, "a.png", "PNG-BYTES")
	args := json.RawMessage(`{"action":"send_photo","channel":"-1001","text":"c","options":{"path":"a.png"}}`)
	tool := Telegram()
	p, err := tool.Plan(t.Context(), w.Workspace, args)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Preview.Body, guard.Hash([]byte("PNG-BYTES"))) || len(p.Effects) != 2 || p.Effects[1] != (toolkit.Effect{Kind: toolkit.Reads, Target: "a.png"}) {
		t.Errorf("plan: %+v", p)
	}
	r, err := tool.Run(t.Context(), w.Workspace, p, nil)
	if err != nil || r.Text != `sent the photo to -1001 {"message_id":"9"}` {
		t.Fatalf("%v, %q", err, r.Text)
	}
	for _, want := range []string{`name="photo"; filename="a.png"`, "PNG-BYTES", `name="chat_id"`, `name="caption"`} {
		if !strings.Contains(w.got[0].body, want) {
			t.Errorf("no %s in %s", want, w.got[0].body)
		}
	}
	w.file(t, "a.png", "OTHER")
	if _, err := tool.Run(t.Context(), w.Workspace, p, nil); toolkit.AsError(err).Code != toolkit.CodeChanged || len(w.got) != 1 {
		t.Errorf("a changed file: %v, %d requests", err, len(w.got))
	}
}

func TestFilesThatNoToolMayReadAreNotSent(t *testing.T) {
	w := newWorld(t, `{"ok":true}`)
	w.file(t, ".env", "K=SECRET")
	for _, path := range []string{".env", "../x", "/etc/passwd"} {
		_, _, err := w.do(t, Telegram(), `{"action":"send_document","channel":"-1001","options":{"path":"`+path+`"}}`)
		if _, denied := guard.AsDenied(err); !denied || len(w.got) > 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestWrongCallsAreAnsweredWithARightOne(t *testing.T) {
	for name, c := range map[string]struct {
		tool       toolkit.Tool
		args, want string
		code       toolkit.Code
	}{
		"no text":            {Slack(), `{"action":"send_message","channel":"C0123"}`, "send_message needs text", toolkit.CodeMissing},
		"a field too many":   {Slack(), `{"action":"send_message","channel":"C0123","text":"x","user":"U0123"}`, "takes no user", toolkit.CodeInvalid},
		"a channel's name":   {Slack(), `{"action":"set_topic","channel":"general","text":"x"}`, `channel "general" is not a channel id`, toolkit.CodeInvalid},
		"a bad timestamp":    {Slack(), `{"action":"pin_message","channel":"C0123","message_id":"42"}`, "timestamp", toolkit.CodeInvalid},
		"an unknown option":  {Slack(), `{"action":"create_channel","name":"x","options":{"privat":true}}`, `no option "privat"; it takes is_private`, toolkit.CodeInvalid},
		"no options at all":  {Slack(), `{"action":"archive_channel","channel":"C0123","options":{"x":1}}`, "takes no options", toolkit.CodeInvalid},
		"a flag":             {Slack(), `{"action":"create_channel","name":"x","options":{"is_private":"maybe"}}`, "write true or false", toolkit.CodeInvalid},
		"a long message":     {Discord(), `{"action":"send_message","channel":"` + c1 + `","text":"` + strings.Repeat("x", 2001) + `"}`, "at most 2000", toolkit.CodeInvalid},
		"a path in an id":    {Discord(), `{"action":"pin_message","channel":"../../guilds","message_id":"` + m1 + `"}`, "15 to 21 digits", toolkit.CodeInvalid},
		"an emoji's word":    {Discord(), `{"action":"send_reaction","channel":"` + c1 + `","message_id":"` + m1 + `","name":"thumbsup"}`, "is not an emoji", toolkit.CodeInvalid},
		"no guild":           {Discord(), `{"action":"kick_user","user":"` + u1 + `"}`, "needs options.guild_id", toolkit.CodeMissing},
		"an inexact id":      {Discord(), `{"action":"kick_user","user":"` + u1 + `","options":{"guild_id":` + g1 + `}}`, "too large to be exact", toolkit.CodeInvalid},
		"an age":             {Discord(), `{"action":"create_thread","channel":"` + c1 + `","name":"T","options":{"auto_archive_duration":61}}`, "60, 1440", toolkit.CodeInvalid},
		"one choice":         {Telegram(), `{"action":"create_poll","channel":"-1","text":"q","options":{"choices":["a"]}}`, "2 to 10 choices", toolkit.CodeInvalid},
		"eleven choices":     {Telegram(), `{"action":"create_poll","channel":"-1","text":"q","options":{"choices":["1","2","3","4","5","6","7","8","9","10","11"]}}`, "has 11", toolkit.CodeInvalid},
		"no file":            {Telegram(), `{"action":"send_photo","channel":"-1"}`, "one of options.path", toolkit.CodeMissing},
		"two files":          {Telegram(), `{"action":"send_photo","channel":"-1","options":{"path":"a","url":"http://x.example"}}`, "one of options.path", toolkit.CodeMissing},
		"no address":         {Telegram(), `{"action":"send_photo","channel":"-1","options":{"url":"file:///etc/passwd"}}`, "no http or https", toolkit.CodeInvalid},
		"a chat by its name": {Telegram(), `{"action":"send_message","channel":"My chat","text":"x"}`, "chat id", toolkit.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, `{"ok":true}`)
			_, _, err := w.do(t, c.tool, c.args)
			e := toolkit.AsError(err)
			if e == nil || e.Code != c.code || !strings.Contains(e.Message, c.want) || e.Hint == "" {
				t.Errorf("got %+v", e)
			}
			if len(w.got) > 0 {
				t.Errorf("it was sent: %v", w.got)
			}
		})
	}
}

func TestWithoutATokenTheToolsAreHiddenAndSaySo(t *testing.T) {
	w := newWorld(t, "")
	w.Config = &toolkit.Config{}
	for tool, args := range map[toolkit.Tool]string{
		Slack(): slackCalls["a message"].args, Discord(): discordCalls["a message"].args, Telegram(): telegramCalls["a message"].args,
	} {
		if err := tool.Available(t.Context(), w.Workspace); err == nil || !strings.Contains(err.Error(), "_BOT_TOKEN") {
			t.Errorf("%s: %v", tool.Spec().Name, err)
		}
		if _, _, err := w.do(t, tool, args); toolkit.AsError(err).Code != CodeNotConfigured {
			t.Errorf("%s: %v", tool.Spec().Name, err)
		}
	}
	w.Config.Channels.Telegram.Key = "no/token"
	if err := Telegram().Available(t.Context(), w.Workspace); err == nil || strings.Contains(err.Error(), "no/token") {
		t.Errorf("a malformed token: %v", err)
	}
}

func TestRefusalsOfTheServices(t *testing.T) {
	for name, c := range map[string]struct {
		tool      toolkit.Tool
		args      string
		status    int
		answer    string
		header    http.Header
		code      toolkit.Code
		want      string
		retryable bool
	}{
		"slack says no":               {Slack(), slackCalls["a message"].args, 200, `{"ok":false,"error":"channel_not_found"}`, nil, CodeSlack, "channel not found", false},
		"slack lacks a scope":         {Slack(), slackCalls["a pin"].args, 200, `{"ok":false,"error":"missing_scope","needed":"pins:write"}`, nil, CodeSlack, "pins:write", false},
		"slack is asked too often":    {Slack(), slackCalls["a message"].args, 429, `{"ok":false,"error":"ratelimited"}`, http.Header{"Retry-After": {"30"}}, service.CodeService, "Wait 30s", true},
		"discord says no":             {Discord(), discordCalls["a message"].args, 404, `{"message":"Unknown Channel","code":10003}`, nil, service.CodeService, "Unknown Channel", false},
		"discord knows no bot":        {Discord(), discordCalls["a message"].args, 401, `{"message":"401: Unauthorized"}`, nil, service.CodeKey, "refuses the key", false},
		"discord is asked too often":  {Discord(), discordCalls["a message"].args, 429, `{"message":"You are being rate limited.","retry_after":1.2}`, nil, service.CodeService, "Wait 2s", true},
		"telegram says no":            {Telegram(), telegramCalls["a message"].args, 400, `{"ok":false,"description":"Bad Request: chat not found ` + telegramToken + `"}`, nil, service.CodeService, "chat not found", false},
		"telegram says no mildly":     {Telegram(), telegramCalls["a message"].args, 200, `{"ok":false,"description":"no"}`, nil, CodeTelegram, "no", false},
		"telegram is asked too often": {Telegram(), telegramCalls["a message"].args, 429, `{"ok":false,"description":"Too Many Requests","parameters":{"retry_after":5}}`, nil, service.CodeService, "Wait 5s", true},
		"telegram breaks":             {Telegram(), telegramCalls["a message"].args, 502, "<html>", nil, service.CodeService, "502", true},
		"an answer that is none":      {Telegram(), telegramCalls["a message"].args, 200, "<html>", nil, service.CodeService, "no JSON", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.answer)
			w.status, w.header = c.status, c.header
			_, _, err := w.do(t, c.tool, c.args)
			e := toolkit.AsError(err)
			if e == nil || e.Code != c.code || !strings.Contains(e.Error(), c.want) || e.Retryable != c.retryable {
				t.Errorf("got %+v", e)
			}
			if len(w.got) != 1 {
				t.Errorf("%d requests", len(w.got))
			}
		})
	}
}

func TestAPrivateOrLostServiceIsRefusedWithoutTheToken(t *testing.T) {
	w := newWorld(t, `{"ok":true}`)
	w.Config.Channels.Telegram.URL = "http://private.example"
	_, _, err := w.do(t, Telegram(), telegramCalls["a message"].args)
	if _, denied := guard.AsDenied(err); !denied {
		t.Errorf("got %v", err)
	}
	w.Config.Channels.Telegram.URL = "http://gone.example"
	_, _, err = w.do(t, Telegram(), telegramCalls["a message"].args)
	if e := toolkit.AsError(err); e.Code != service.CodeService || !e.Retryable {
		t.Errorf("got %+v", e)
	}
	var plain *guard.Denied
	if err := service.Call(t.Context(), w.Net, service.Request{Name: "T", URL: "http://private.example/bot" + telegramToken, Secret: telegramToken}, nil); !errors.As(err, &plain) || strings.Contains(err.Error(), telegramToken) {
		t.Errorf("a refusal by the floor: %v", err)
	}
}
