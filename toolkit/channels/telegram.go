package channels

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"chela/toolkit"
	"chela/toolkit/service"
)

// CodeTelegram is the code of a refusal in an answer that Telegram sent as a
// success.
const CodeTelegram toolkit.Code = "TELEGRAM_API_ERROR"

type telegramArgs struct {
	Action  string         `json:"action" enum:"send_message,send_photo,send_document,pin_message,create_poll,set_chat_title,set_chat_description,restrict_user,ban_user"`
	Channel string         `json:"channel,omitempty" doc:"chat id or @name" alias:"chat_id,chatId,chat,to"`
	Text    string         `json:"text,omitempty" doc:"message, caption, title or question" alias:"message,content,body,caption,question,title,description"`
	Message string         `json:"message_id,omitempty" doc:"message to act on" alias:"messageId,reply_to"`
	User    string         `json:"user,omitempty" alias:"user_id,userId"`
	Name    string         `json:"name,omitempty"`
	Options map[string]any `json:"options,omitempty" doc:"further fields of the action, such as path or choices"`
}

func (a telegramArgs) fields() fields {
	return fields{a.Action, a.Channel, a.Text, a.Message, a.User, a.Name, a.Options}
}

// Telegram posts and manages in Telegram.
func Telegram() toolkit.Tool {
	return toolkit.Define(telegram.spec(),
		func(ctx context.Context, w *toolkit.Workspace, a telegramArgs) (toolkit.Plan, error) {
			return telegram.plan(ctx, w, a.fields())
		},
		func(ctx context.Context, w *toolkit.Workspace, a telegramArgs, p toolkit.Plan, _ func(toolkit.Progress)) (toolkit.Result, error) {
			return telegram.run(ctx, w, a.fields(), p)
		}, toolkit.AvailableIf(telegram.available))
}

var (
	chatID  = regexp.MustCompile(`^(?:-?\d{1,18}|@[A-Za-z][A-Za-z0-9_]{3,31})$`)
	integer = regexp.MustCompile(`^\d{1,18}$`)
)

const (
	sending   = "disable_notification protect_content message_thread_id"
	attaching = "path url file_id " + formatting
	// formatting is for what has text of its own.
	formatting = "parse_mode " + sending
)

// The most bytes that Telegram takes of a bot.
const (
	maxPhoto    = 10 << 20
	maxDocument = 50 << 20
)

var telegram = &platform{
	tool: "telegram_actions", name: "Telegram", variable: "TELEGRAM_BOT_TOKEN", setting: "channels.telegram.key", api: "https://api.telegram.org",
	set:     func(c *toolkit.Config) toolkit.Service { return c.Channels.Telegram },
	prefix:  func(key string) string { return "/bot" + key },
	token:   regexp.MustCompile(`^\d{3,20}:[A-Za-z0-9_-]{8,100}$`),
	details: telegramDetails,
	actions: map[string]action{
		"send_message": {
			needs: "channel text", takes: "message_id", options: formatting, says: "sent to %s",
			example: `{"action":"send_message","channel":"-1001234567890","text":"The build is green."}`,
			build: func(f fields) (message, error) {
				body, err := telegramBody(f)
				body["text"] = f.Text
				return message{path: "/sendMessage", body: body}, firstOf(err, within("text", f.Text, 4096))
			},
		},
		"send_photo": {
			needs: "channel", takes: "text message_id", options: attaching, says: "sent the photo to %s",
			example: `{"action":"send_photo","channel":"-1001234567890","text":"Load today","options":{"path":"chart.png"}}`,
			build:   func(f fields) (message, error) { return telegramFile(f, "/sendPhoto", "photo", maxPhoto) },
		},
		"send_document": {
			needs: "channel", takes: "text message_id", options: attaching, says: "sent the document to %s",
			example: `{"action":"send_document","channel":"-1001234567890","options":{"path":"report.pdf"}}`,
			build:   func(f fields) (message, error) { return telegramFile(f, "/sendDocument", "document", maxDocument) },
		},
		"pin_message": {
			needs: "channel message_id", options: "disable_notification", says: "pinned in %s",
			example: `{"action":"pin_message","channel":"-1001234567890","message_id":"42"}`,
			build: func(f fields) (message, error) {
				body := map[string]any{"chat_id": f.Channel}
				id, err := number("message_id", f.Message)
				body["message_id"] = id
				return message{path: "/pinChatMessage", body: body}, firstOf(chat(f), err, f.Options.copyTo(body, "disable_notification", "", ""))
			},
		},
		"create_poll": {
			needs: "channel text", takes: "message_id", says: "asked in %s",
			options: "choices options is_anonymous type allows_multiple_answers correct_option_id explanation open_period " + sending,
			example: `{"action":"create_poll","channel":"-1001234567890","text":"When do we release?","options":{"choices":["Friday","Monday"]}}`,
			build:   telegramPoll,
		},
		"set_chat_title": {
			needs: "channel text", says: "set the title of %s",
			example: `{"action":"set_chat_title","channel":"-1001234567890","text":"Releases"}`,
			build: func(f fields) (message, error) {
				return message{path: "/setChatTitle", body: map[string]any{"chat_id": f.Channel, "title": f.Text}}, firstOf(chat(f), within("text", f.Text, 128))
			},
		},
		"set_chat_description": {
			needs: "channel text", says: "set the description of %s",
			example: `{"action":"set_chat_description","channel":"-1001234567890","text":"What is released and when"}`,
			build: func(f fields) (message, error) {
				return message{path: "/setChatDescription", body: map[string]any{"chat_id": f.Channel, "description": f.Text}}, firstOf(chat(f), within("text", f.Text, 255))
			},
		},
		"restrict_user": {
			needs: "channel user", options: "until_date " + permissions, dangerous: true, says: "restricted the user in %s",
			example: `{"action":"restrict_user","channel":"-1001234567890","user":"123456","options":{"until_date":1767225600}}`,
			build: func(f fields) (message, error) {
				body, err := telegramUser(f)
				allowed := map[string]any{}
				for p := range strings.FieldsSeq(permissions) {
					allowed[p] = false
				}
				body["permissions"] = allowed
				return message{path: "/restrictChatMember", body: body}, firstOf(err, f.Options.copyTo(allowed, permissions, "", ""))
			},
		},
		"ban_user": {
			needs: "channel user", options: "until_date revoke_messages", dangerous: true, says: "banned the user from %s",
			example: `{"action":"ban_user","channel":"-1001234567890","user":"123456"}`,
			build: func(f fields) (message, error) {
				body, err := telegramUser(f)
				return message{path: "/banChatMember", body: body}, firstOf(err, f.Options.copyTo(body, "revoke_messages", "", ""))
			},
		},
	},
}

// permissions of a member; those that a call does not give are taken.
const permissions = "can_send_messages can_send_photos can_send_documents can_send_polls can_send_other_messages " +
	"can_add_web_page_previews can_invite_users can_pin_messages can_change_info"

func chat(f fields) error {
	return matches("channel", f.Channel, "a chat id such as -1001234567890, or a public name such as @releases", chatID)
}

func number(field, value string) (int64, error) {
	if err := matches(field, value, "a whole number", integer); err != nil {
		return 0, err
	}
	return strconv.ParseInt(value, 10, 64)
}

// telegramBody is what all that is sent has in common.
func telegramBody(f fields) (map[string]any, error) {
	body := map[string]any{"chat_id": f.Channel}
	err := firstOf(chat(f), f.Options.copyTo(body, "disable_notification protect_content", "message_thread_id", "parse_mode"))
	switch mode := f.Options.text("parse_mode"); mode {
	case "", "HTML", "Markdown", "MarkdownV2":
	default:
		err = firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "options.parse_mode is %q; it can be HTML, Markdown or MarkdownV2.", mode))
	}
	if f.Message != "" {
		id, fault := number("message_id", f.Message)
		body["reply_parameters"] = map[string]any{"message_id": id}
		err = firstOf(err, fault)
	}
	return body, err
}

// telegramFile sends a file of the workspace, one that Telegram fetches, or one
// that it has.
func telegramFile(f fields, path, field string, most int64) (message, error) {
	body, err := telegramBody(f)
	if f.Text != "" {
		body["caption"] = f.Text
		err = firstOf(err, within("text", f.Text, 1024))
	}
	file, address, id := f.Options.text("path"), f.Options.text("url"), f.Options.text("file_id")
	m := message{path: path, body: body}
	given := 0
	for _, v := range []string{file, address, id} {
		if v != "" {
			given++
		}
	}
	if given != 1 {
		return m, firstOf(err, toolkit.Errorf(toolkit.CodeMissing, "%s needs one of options.path, options.url and options.file_id.", f.Action))
	}
	switch {
	case file != "":
		m.file = &attachment{field: field, path: file, most: most}
	case address != "":
		u, fault := url.Parse(address)
		if fault != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return m, firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "options.url %q is no http or https address.", address))
		}
		body[field] = address
	default:
		body[field] = id
	}
	return m, err
}

func telegramPoll(f fields) (message, error) {
	body, err := telegramBody(f)
	err = firstOf(err, within("text", f.Text, 300),
		f.Options.copyTo(body, "is_anonymous allows_multiple_answers", "correct_option_id open_period", "type explanation"))
	choices := f.Options.list("choices")
	if choices == nil {
		choices = f.Options.list("options")
	}
	if len(choices) < 2 || len(choices) > 10 {
		err = firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "a poll has 2 to 10 choices; options.choices has %d.", len(choices)))
	}
	var list []map[string]any
	for _, c := range choices {
		if c == "" {
			err = firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "one of options.choices is empty."))
		}
		err = firstOf(err, within("a choice", c, 100))
		list = append(list, map[string]any{"text": c})
	}
	if n, ok := body["correct_option_id"].(int64); ok && n >= int64(len(choices)) {
		err = firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "options.correct_option_id is %d; the choices are counted from 0 to %d.", n, len(choices)-1))
	}
	if kind := f.Options.text("type"); kind != "" && kind != "regular" && kind != "quiz" {
		err = firstOf(err, toolkit.Errorf(toolkit.CodeInvalid, "options.type is %q; it can be regular or quiz.", kind))
	}
	body["question"], body["options"] = f.Text, list
	return message{path: "/sendPoll", body: body}, err
}

func telegramUser(f fields) (map[string]any, error) {
	body := map[string]any{"chat_id": f.Channel}
	id, err := number("user", f.User)
	body["user_id"] = id
	return body, firstOf(chat(f), err, f.Options.copyTo(body, "", "until_date", ""))
}

func telegramDetails(answer json.RawMessage) (map[string]any, error) {
	var a struct {
		OK          bool            `json:"ok"`
		Description string          `json:"description"`
		Result      json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, toolkit.Errorf(service.CodeService, "Telegram's answer is not what it should be: %w.", err)
	}
	if !a.OK {
		return nil, toolkit.Errorf(CodeTelegram, "Telegram refuses: %s.", strings.TrimRight(a.Description, "."))
	}
	out := map[string]any{}
	var sent struct {
		ID int64 `json:"message_id"`
	}
	if json.Unmarshal(a.Result, &sent) == nil && sent.ID != 0 {
		out["message_id"] = strconv.FormatInt(sent.ID, 10)
	}
	return out, nil
}
