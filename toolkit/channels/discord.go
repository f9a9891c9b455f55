package channels

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"chela/toolkit"
	"chela/toolkit/service"
)

type discordArgs struct {
	Action  string         `json:"action" enum:"send_message,send_reaction,pin_message,create_thread,set_channel_topic,kick_user,ban_user"`
	Channel string         `json:"channel,omitempty" doc:"channel id" alias:"channel_id,channelId,to"`
	Text    string         `json:"text,omitempty" doc:"message or topic" alias:"message,content,body,topic"`
	Message string         `json:"message_id,omitempty" doc:"message to act on" alias:"messageId,reply_to"`
	User    string         `json:"user,omitempty" alias:"user_id,userId,member"`
	Name    string         `json:"name,omitempty" doc:"thread or emoji" alias:"emoji,reaction,thread_name"`
	Options map[string]any `json:"options,omitempty" doc:"further fields of the action, such as guild_id"`
}

func (a discordArgs) fields() fields {
	return fields{a.Action, a.Channel, a.Text, a.Message, a.User, a.Name, a.Options}
}

// Discord posts and manages in Discord.
func Discord() toolkit.Tool {
	return toolkit.Define(discord.spec(),
		func(ctx context.Context, w *toolkit.Workspace, a discordArgs) (toolkit.Plan, error) {
			return discord.plan(ctx, w, a.fields())
		},
		func(ctx context.Context, w *toolkit.Workspace, a discordArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
			return discord.run(ctx, w, a.fields(), p)
		}, toolkit.AvailableIf(discord.available))
}

var (
	snowflake    = regexp.MustCompile(`^\d{15,21}$`)
	discordEmoji = regexp.MustCompile(`^(?:\w{2,32}:\d{15,21}|[^\x00-\x7f\s/]{1,16}|[0-9#*]\x{FE0F}?\x{20E3})$`)
)

const wantSnowflake = "an id of 15 to 21 digits, such as 123456789012345678"

// threadAges are the minutes of silence after which Discord can archive a thread.
var threadAges = []string{"60", "1440", "4320", "10080"}

var discord = &platform{
	tool: "discord_actions", name: "Discord", variable: "DISCORD_BOT_TOKEN", setting: "channels.discord.key", api: "https://discord.com/api/v10",
	set: func(c *toolkit.Config) toolkit.Service { return c.Channels.Discord },
	sign: func(key string, h http.Header) {
		h.Set("Authorization", "Bot "+key)
	},
	details: discordDetails,
	actions: map[string]action{
		"send_message": {
			needs: "channel text", takes: "message_id", options: "tts suppress_notifications mention_everyone", says: "posted to %s",
			example: `{"action":"send_message","channel":"123456789012345678","text":"The build is green."}`,
			build:   discordSend,
		},
		"send_reaction": {
			needs: "channel message_id name", says: "reacted in %s",
			example: `{"action":"send_reaction","channel":"123456789012345678","message_id":"123456789012345679","name":"👍"}`,
			build: func(f fields) (message, error) {
				name := strings.Trim(f.Name, "<>:")
				return message{method: http.MethodPut, path: "/channels/" + f.Channel + "/messages/" + f.Message + "/reactions/" + url.PathEscape(name) + "/@me"},
					firstOf(discordMessage(f), matches("name", name, "an emoji, or name:id of the server's own", discordEmoji))
			},
		},
		"pin_message": {
			needs: "channel message_id", says: "pinned in %s",
			example: `{"action":"pin_message","channel":"123456789012345678","message_id":"123456789012345679"}`,
			build: func(f fields) (message, error) {
				return message{method: http.MethodPut, path: "/channels/" + f.Channel + "/messages/pins/" + f.Message}, discordMessage(f)
			},
		},
		"create_thread": {
			needs: "channel name", takes: "message_id", options: "auto_archive_duration is_private", says: "made a thread in %s",
			example: `{"action":"create_thread","channel":"123456789012345678","message_id":"123456789012345679","name":"Release 2.0"}`,
			build:   discordThread,
		},
		"set_channel_topic": {
			needs: "channel text", says: "set the topic of %s",
			example: `{"action":"set_channel_topic","channel":"123456789012345678","text":"Release on Friday"}`,
			build: func(f fields) (message, error) {
				return message{method: http.MethodPatch, path: "/channels/" + f.Channel, body: map[string]any{"topic": f.Text}},
					firstOf(matches("channel", f.Channel, wantSnowflake, snowflake), within("text", f.Text, 1024))
			},
		},
		"kick_user": {
			needs: "user", options: "guild_id* reason", dangerous: true, says: "kicked the member",
			example: `{"action":"kick_user","user":"123456789012345678","options":{"guild_id":"123456789012345679","reason":"spam"}}`,
			build: func(f fields) (message, error) {
				guild, header, err := discordMember(f)
				return message{method: http.MethodDelete, path: "/guilds/" + guild + "/members/" + f.User, header: header}, err
			},
		},
		"ban_user": {
			needs: "user", options: "guild_id* reason delete_message_seconds", dangerous: true, says: "banned the user",
			example: `{"action":"ban_user","user":"123456789012345678","options":{"guild_id":"123456789012345679","delete_message_seconds":3600}}`,
			build: func(f fields) (message, error) {
				guild, header, err := discordMember(f)
				body := map[string]any{}
				err = firstOf(err, f.Options.copyTo(body, "", "delete_message_seconds", ""))
				if s, ok := body["delete_message_seconds"].(int64); ok && s > 7*24*3600 {
					err = firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "options.delete_message_seconds is %d; at most 604800 are taken.", s))
				}
				return message{method: http.MethodPut, path: "/guilds/" + guild + "/bans/" + f.User, header: header, body: body}, err
			},
		},
	},
}

func discordMessage(f fields) error {
	return firstOf(matches("channel", f.Channel, wantSnowflake, snowflake), matches("message_id", f.Message, wantSnowflake, snowflake))
}

// discordSend posts a message. It calls for nobody's attention but that of the
// users it names, unless the call says so.
func discordSend(f fields) (message, error) {
	mentions := []string{"users"}
	o := map[string]any{}
	err := firstOf(matches("channel", f.Channel, wantSnowflake, snowflake), within("text", f.Text, 2000),
		f.Options.copyTo(o, "tts suppress_notifications mention_everyone", "", ""))
	if o["mention_everyone"] == true {
		mentions = append(mentions, "everyone", "roles")
	}
	body := map[string]any{"content": f.Text, "allowed_mentions": map[string]any{"parse": mentions}}
	if o["tts"] == true {
		body["tts"] = true
	}
	if o["suppress_notifications"] == true {
		body["flags"] = 1 << 12
	}
	if f.Message != "" {
		err = firstOf(err, matches("message_id", f.Message, wantSnowflake, snowflake))
		body["message_reference"] = map[string]any{"message_id": f.Message}
	}
	return message{path: "/channels/" + f.Channel + "/messages", body: body}, err
}

// discordThread starts a thread at a message, or alone.
func discordThread(f fields) (message, error) {
	o := map[string]any{}
	err := firstOf(matches("channel", f.Channel, wantSnowflake, snowflake), within("name", f.Name, 100),
		f.Options.copyTo(o, "is_private", "auto_archive_duration", ""))
	body := map[string]any{"name": f.Name}
	if age := f.Options.text("auto_archive_duration"); age != "" {
		if !slices.Contains(threadAges, age) {
			err = firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "options.auto_archive_duration is %s minutes; it can be %s.", age, strings.Join(threadAges, ", ")))
		}
		body["auto_archive_duration"] = o["auto_archive_duration"]
	}
	if f.Message != "" {
		if o["is_private"] == true {
			err = firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "a thread at a message is never private.").WithHint("Leave message_id or is_private out."))
		}
		return message{path: "/channels/" + f.Channel + "/messages/" + f.Message + "/threads", body: body},
			firstOf(err, matches("message_id", f.Message, wantSnowflake, snowflake))
	}
	body["type"] = 11 // a public thread
	if o["is_private"] == true {
		body["type"] = 12
	}
	return message{path: "/channels/" + f.Channel + "/threads", body: body}, err
}

func discordMember(f fields) (guild string, h http.Header, err error) {
	guild, err = f.Options.id("guild_id", wantSnowflake, snowflake)
	reason := f.Options.text("reason")
	if reason != "" {
		h = http.Header{"X-Audit-Log-Reason": {url.PathEscape(reason)}}
	}
	return guild, h, firstOf(err, matches("user", f.User, wantSnowflake, snowflake), within("options.reason", reason, 512))
}

func discordDetails(answer json.RawMessage) (map[string]any, error) {
	out := map[string]any{}
	if len(answer) == 0 {
		return out, nil
	}
	var a struct {
		ID      string `json:"id"`
		Channel string `json:"channel_id"`
		Name    string `json:"name"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, toolkit.Errorf(service.CodeService, "Discord's answer is not what it should be: %w.", err)
	}
	for k, v := range map[string]string{"id": a.ID, "channel": a.Channel, "name": a.Name} {
		if v != "" {
			out[k] = v
		}
	}
	return out, nil
}
