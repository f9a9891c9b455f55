package eval

import (
	"fmt"
	"strings"

	"chela/engine/callmode"
	"chela/engine/ollamatest"
)

// loops are tasks with a model that does not get on.
func loops() []Task {
	return []Task{
		edit("the same call again", after(1, repeats(1))),
		edit("the same call again, also after a change", after(2, repeats(1))),
		circle(),
		back(),
		ask("text that repeats", func(x *Exchange) bool {
			if x.Again || len(x.Results) == 0 {
				return false
			}
			x.reply.Text(pieces(strings.Repeat("I will look at the file and then I will tell you what it says. ", 80))...).Length()
			return true
		}),
		ask("an empty answer", func(x *Exchange) bool {
			if !x.pure() || len(x.Results) == 0 {
				return false
			}
			x.reply.Tokens(0, 1)
			return true
		}),
		ask("an answer that is only thought", func(x *Exchange) bool {
			if !x.pure() || len(x.Results) == 0 {
				return false
			}
			x.reply.Thinking("The file says which port it is.").Tokens(0, 30)
			return true
		}),
		ask("only loaded", func(x *Exchange) bool {
			if x.Request > 0 {
				return false
			}
			x.reply.Line(`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`).NoDone()
			return true
		}),
		edit("announced only", instead("I will now read config.txt and replace the word.")),
		edit("announced with a colon", after(1, instead("Now the edit of config.txt:"))),
		edit("claimed without doing", after(1, instead("I have replaced 'blue' with 'green' in config.txt."))),
		create("a shell block in place of a call", instead("Here you are:\n```bash\necho claws and tides > notes.txt\n```\nThe file has been created.")),
		edit("says that it has no tools", instead("As an AI language model I do not have access to your files. Please paste the file here.")),
		givesUp(),
		edit("closed without done", func(x *Exchange) bool {
			if x.Again || len(x.Results) != 1 {
				return false
			}
			x.reply.Text("I rep").NoDone()
			return true
		}),
		ask("a connection that is cut", func(x *Exchange) bool {
			if x.Again || x.Request > 0 {
				return false
			}
			x.reply.Text("The po").Cut()
			return true
		}),
		lostAnswer(),
	}
}

// circle reads two files in turns, until it is told.
func circle() Task {
	return Task{
		Name: "in a circle", About: "several calls again and again", Files: map[string]string{"a": "go to b\n", "b": "the word is crab\n"},
		Flaw: func(x *Exchange) bool {
			if len(x.Results) < 2 || x.Nudges > 0 || x.Mode != callmode.Native || x.Failed() > 2 {
				return false
			}
			x.native(Call{"read_file", fmt.Sprintf(`{"path":%q}`, []string{"a", "b"}[len(x.Results)%2])})
			return true
		},
		Turns: []Turn{{
			Prompt: "read a, then the file it names, and tell me the word", Steps: []Step{
				{Calls: []Call{{"read_file", `{"path":"a"}`}}}, {Calls: []Call{{"read_file", `{"path":"b"}`}}},
			},
			Answer: func(v View) string { return "The word is " + v.find("the word is ") + "." },
		}},
		Check: says("crab"),
	}
}

// back writes a word and its opposite in turns: each call changes something, so
// that none is a repetition.
func back() Task {
	t := create("to and fro", func(x *Exchange) bool {
		if x.Nudges > 0 || x.Mode != callmode.Native {
			return false
		}
		x.native(Call{"write_file", fmt.Sprintf(`{"path":"notes.txt","content":"draft %d\n"}`, len(x.Results)%2)})
		return true
	})
	t.About = "several calls again and again, and each changes something"
	t.Turns[0].Steps[0].Known = func(v View) bool { return strings.Contains(v.Wrote, "claws and tides") }
	return t
}

// givesUp meets an error, and needs to be told that it says what to do.
func givesUp() Task {
	return Task{
		Name: "gives up after an error", About: "the error says what to change", Files: map[string]string{"src/app.cfg": "timeout = 90\n"},
		Flaw: func(x *Exchange) bool {
			if last, ok := x.Last(); !ok || !last.Failed || x.Nudges > 0 {
				return false
			}
			x.reply.Text("I'm sorry, but I cannot read that file. Please provide its content.")
			return true
		},
		Turns: []Turn{{
			Prompt: "Find out the timeout in app.cfg.", Steps: []Step{
				{Calls: []Call{{"read_file", `{"path":"app.cfg"}`}}, Fails: true},
				{Calls: []Call{{"read_file", `{"path":"src/app.cfg"}`}}},
			},
			Answer: func(v View) string { return "The timeout is " + v.find("timeout = ") + "." },
		}},
		Check: says("90"),
	}
}

// lostAnswer is an answer in a form that the server drops, again and again, by a
// server that tells no raw tokens. Only another way of asking helps.
func lostAnswer() Task {
	t := edit("dropped, and no raw tokens", func(x *Exchange) bool {
		if !x.calling() {
			return false
		}
		x.reply.Tokens(0, 40)
		return true
	})
	t.About = "another way of asking for calls"
	return t
}

// windows are tasks that do not fit the window.
func windows() []Task {
	return []Task{
		parts("long outputs in a small window", 6, 4<<10),
		parts("a long session in a small window", 12, 4<<10),
		turns(),
		{
			Name: "a prompt that the server finds too long", About: "the server counts more than was estimated", Window: 8 << 10,
			Files: map[string]string{"big.txt": "the word is crab\n" + prose(9000, "the end"), "next.txt": "and the number is 12\n"},
			Flaw: func(x *Exchange) bool {
				// Its tokenizer makes half as many again of the text.
				if len(x.Text) < 5000 || x.Turn == 0 {
					return false
				}
				x.reply.TooLong()
				return true
			},
			Turns: []Turn{
				{
					Prompt: "read big.txt and tell me the word in its first line", Steps: []Step{{Calls: []Call{{"read_file", `{"path":"big.txt"}`}}}},
					Answer: func(v View) string { return "The word is " + v.find("the word is ") + "." },
				},
				{
					Prompt: "read next.txt and tell me the number", Steps: []Step{{Calls: []Call{{"read_file", `{"path":"next.txt"}`}}}},
					Answer: func(v View) string { return "The number is " + v.find("the number is ") + "." },
				},
			},
			Check: says("12"),
		},
		{
			Name: "a window that the memory cannot hold", About: "a smaller one is tried",
			Files: map[string]string{"port.txt": "the port is 7431\n"}, Model: ollamatest.Model{Context: 64 << 10},
			Flaw:  refuses(func(x *Exchange) bool { w, _ := x.req.Options["num_ctx"].(float64); return w > 8<<10 }, "model requires more system memory (20.1 GiB) than is available (7.9 GiB)"),
			Turns: ask("", nil).Turns, Check: says("7431"),
		},
	}
}

// prose is a text of about so many characters, with a last line.
func prose(size int, last string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "Line %d is about the tide, the sand and what lives between them.\n", i+1)
	}
	return b.String() + last + "\n"
}

// parts has files read of which a few fill the window, and the file changed
// after each.
func parts(name string, n, window int) Task {
	t := Task{
		Name: name, About: "old output gives way", Window: window, Files: map[string]string{"sum.txt": ""}, Turns: []Turn{{}},
		Flaw: func(*Exchange) bool { return false },
	}
	tn := &t.Turns[0]
	tn.Prompt = fmt.Sprintf("Read part1 to part%d, and after each append its number in words, which is in its first line, to sum.txt.", n)
	want := ""
	for i := range n {
		path, word := fmt.Sprintf("part%d", i+1), fmt.Sprintf("number-%c", 'a'+i)
		t.Files[path] = word + "\n" + prose(2500, "the end")
		want += word + "\n"
		read, wrote := path+" is read", word+" is appended"
		written := func(v View) bool { return strings.Contains(v.Wrote, word) || strings.Contains(v.Text, wrote) }
		tn.Steps = append(tn.Steps, Step{
			Note: read, Calls: []Call{{"read_file", fmt.Sprintf(`{"path":%q}`, path)}},
			Known: func(v View) bool { return written(v) || strings.Contains(v.results(), word) },
		}, Step{
			Note: wrote, Calls: []Call{{"write_file", fmt.Sprintf(`{"path":"sum.txt","content":"%s\n","append":true}`, word)}},
			Known: func(v View) bool {
				return written(v) || strings.Contains(v.Text, "  - "+path+"\n") // the program's record: it went on after this
			},
		})
	}
	t.Check = has("sum.txt", want)
	return t
}

// results are the texts of all results.
func (v View) results() string {
	var b strings.Builder
	for _, r := range v.Results {
		b.WriteString(r.Text + "\n")
	}
	return b.String()
}

// turns is a conversation that outgrows its window. What the person said at its
// beginning must still be known.
func turns() Task {
	t := Task{
		Name: "a long conversation", About: "what the person wrote is kept", Window: 4 << 10, Files: map[string]string{},
		Flaw: func(*Exchange) bool { return false },
	}
	t.Turns = append(t.Turns, Turn{Prompt: "Remember for later: my boat is called Marea.", Answer: func(View) string { return "I will keep that in mind." }})
	for i := range 8 {
		path := fmt.Sprintf("log%d", i+1)
		t.Files[path] = fmt.Sprintf("entry %d: calm\n", i+1) + prose(3000, "the end")
		t.Turns = append(t.Turns, Turn{
			Prompt: "read " + path + " and tell me its entry", Steps: []Step{{Calls: []Call{{"read_file", fmt.Sprintf(`{"path":%q}`, path)}}}},
			Answer: func(v View) string { return "The entry is " + v.find(fmt.Sprintf("entry %d: ", i+1)) + "." },
		})
	}
	t.Turns = append(t.Turns, Turn{Prompt: "What is my boat called?", Answer: func(v View) string { return "It is called " + v.find("my boat is called ") + "." }})
	t.Check = says("Marea")
	return t
}
