package channels

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"chela/toolkit"
	"chela/toolkit/service"
)

// CodeSlack is the code of a refusal by Slack, which answers 200 all the same.
const CodeSlack toolkit.Code = "SLACK_API_ERROR"

type slackArgs struct {
	Action  string         `json:"action" enum:"send_message,add_reaction,pin_message,create_channel,set_topic,invite_user,archive_channel"`
	Channel string         `json:"channel,omitempty" doc:"channel id" alias:"channel_id,channelId,to"`
	Text    string         `json:"text,omitempty" doc:"message or topic" alias:"message,content,body,topic"`
	Message string         `json:"message_id,omitempty" doc:"timestamp of a message" alias:"ts,timestamp,thread_ts,messageId"`
	User    string         `json:"user,omitempty" alias:"user_id,userId,users"`
	Name    string         `json:"name,omitempty" doc:"channel or emoji" alias:"emoji,reaction,channel_name"`
	Options map[string]any `json:"options,omitempty" doc:"further fields of the action"`
}

func (a slackArgs) fields() fields {
	return fields{a.Action, a.Channel, a.Text, a.Message, a.User, a.Name, a.Options}
}

// Slack posts and manages in Slack.
func Slack() toolkit.Tool {
	return toolkit.Define(slack.spec(),
		func(ctx context.Context, w *toolkit.Workspace, a slackArgs) (toolkit.Plan, error) {
			return slack.plan(ctx, w, a.fields())
		},
		func(ctx context.Context, w *toolkit.Workspace, a slackArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
			return slack.run(ctx, w, a.fields(), p)
		}, toolkit.AvailableIf(slack.available))
}

var (
	slackID      = regexp.MustCompile(`^[CGD][A-Z0-9]{2,20}$`)
	slackTarget  = regexp.MustCompile(`^(?:[CGDUW][A-Z0-9]{2,20}|#?[a-z0-9][a-z0-9._-]{0,79})$`)
	slackUsers   = regexp.MustCompile(`^[UW][A-Z0-9]{2,20}(?:,[UW][A-Z0-9]{2,20})*$`)
	slackTime    = regexp.MustCompile(`^\d{6,12}\.\d{6}$`)
	slackEmoji   = regexp.MustCompile(`^[\p{L}0-9_+'-]{1,100}(?:::skin-tone-[2-6])?$`)
	slackChannel = regexp.MustCompile(`^[\p{Ll}\p{Lo}0-9_-]{1,80}$`)
)

const (
	wantSlackID   = "a channel id such as C0123456789"
	wantSlackTime = "the timestamp of a message, such as 1712345678.123456"
)

var slack = &platform{
	tool: "slack_actions", name: "Slack", variable: "SLACK_BOT_TOKEN", setting: "channels.slack.key", api: "https://slack.com/api",
	set: func(c *toolkit.Config) toolkit.Service { return c.Channels.Slack },
	sign: func(key string, h http.Header) {
		h.Set("Authorization", "Bearer "+key)
	},
	details: slackDetails,
	actions: map[string]action{
		"send_message": {
			needs: "channel text", takes: "message_id", options: "reply_broadcast unfurl_links unfurl_media mrkdwn", says: "posted to %s",
			example: `{"action":"send_message","channel":"C0123456789","text":"The build is green."}`,
			build: func(f fields) (message, error) {
				body := map[string]any{"channel": f.Channel, "text": f.Text}
				err := firstOf(matches("channel", f.Channel, wantSlackID, slackTarget), within("text", f.Text, 40_000),
					f.Options.copyTo(body, "reply_broadcast unfurl_links unfurl_media mrkdwn", "", ""))
				if f.Message != "" {
					body["thread_ts"] = f.Message
					err = firstOf(err, matches("message_id", f.Message, wantSlackTime, slackTime))
				}
				return message{path: "/chat.postMessage", body: body}, err
			},
		},
		"add_reaction": {
			needs: "channel message_id name", says: "reacted in %s",
			example: `{"action":"add_reaction","channel":"C0123456789","message_id":"1712345678.123456","name":"thumbsup"}`,
			build: func(f fields) (message, error) {
				name := strings.Trim(f.Name, ":")
				return message{path: "/reactions.add", body: map[string]any{"channel": f.Channel, "timestamp": f.Message, "name": name}},
					firstOf(slackMessage(f), matches("name", name, "an emoji's name such as thumbsup", slackEmoji))
			},
		},
		"pin_message": {
			needs: "channel message_id", says: "pinned in %s",
			example: `{"action":"pin_message","channel":"C0123456789","message_id":"1712345678.123456"}`,
			build: func(f fields) (message, error) {
				return message{path: "/pins.add", body: map[string]any{"channel": f.Channel, "timestamp": f.Message}}, slackMessage(f)
			},
		},
		"create_channel": {
			needs: "name", options: "is_private", says: "made the channel",
			example: `{"action":"create_channel","name":"release-notes","options":{"is_private":true}}`,
			build: func(f fields) (message, error) {
				name := strings.TrimPrefix(f.Name, "#")
				body := map[string]any{"name": name}
				return message{path: "/conversations.create", body: body}, firstOf(f.Options.copyTo(body, "is_private", "", ""),
					matches("name", name, "a channel's name: lower case letters, digits, - and _, at most 80", slackChannel))
			},
		},
		"set_topic": {
			needs: "channel text", says: "set the topic of %s",
			example: `{"action":"set_topic","channel":"C0123456789","text":"Release on Friday"}`,
			build: func(f fields) (message, error) {
				return message{path: "/conversations.setTopic", body: map[string]any{"channel": f.Channel, "topic": f.Text}},
					firstOf(matches("channel", f.Channel, wantSlackID, slackID), within("text", f.Text, 250))
			},
		},
		"invite_user": {
			needs: "channel user", says: "invited to %s",
			example: `{"action":"invite_user","channel":"C0123456789","user":"U0123456789"}`,
			build: func(f fields) (message, error) {
				users := strings.ReplaceAll(f.User, " ", "")
				return message{path: "/conversations.invite", body: map[string]any{"channel": f.Channel, "users": users}},
					firstOf(matches("channel", f.Channel, wantSlackID, slackID), matches("user", users, "a user id such as U0123456789", slackUsers))
			},
		},
		"archive_channel": {
			needs: "channel", dangerous: true, says: "archived %s",
			example: `{"action":"archive_channel","channel":"C0123456789"}`,
			build: func(f fields) (message, error) {
				return message{path: "/conversations.archive", body: map[string]any{"channel": f.Channel}}, matches("channel", f.Channel, wantSlackID, slackID)
			},
		},
	},
}

func slackMessage(f fields) error {
	return firstOf(matches("channel", f.Channel, wantSlackID, slackID), matches("message_id", f.Message, wantSlackTime, slackTime))
}

// slackDetails reads an answer, which says in itself whether the call worked.
func slackDetails(answer json.RawMessage) (map[string]any, error) {
	var a struct {
		OK      bool   `json:"ok"`
		Error   string `json:"error"`
		Needed  string `json:"needed"`
		TS      string `json:"ts"`
		Channel any    `json:"channel"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, toolkit.Errorf(service.CodeService, "Slack's answer is not what it should be: %w.", err)
	}
	if !a.OK {
		e := toolkit.Errorf(CodeSlack, "Slack refuses: %s.", strings.ReplaceAll(a.Error, "_", " "))
		switch {
		case a.Needed != "":
			e = e.WithHint("The token lacks the scope %s: the person has to add it.", a.Needed)
		case a.Error == "not_in_channel":
			e = e.WithHint("The bot has to be invited to the channel first.")
		case a.Error == "ratelimited":
			e = e.WithHint("Wait, or do without.")
			e.Retryable = true
		}
		return nil, e
	}
	out := map[string]any{}
	if a.TS != "" {
		out["message_id"] = a.TS
	}
	switch c := a.Channel.(type) {
	case string:
		out["channel"] = c
	case map[string]any:
		out["channel"], out["name"] = c["id"], c["name"]
	}
	return out, nil
}
