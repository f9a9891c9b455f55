package stall_test

import (
	"strings"
	"testing"

	"chela/engine/stall"
)

// What a turn did before its answer.
const (
	nothing = "nothing"
	reads   = "reads"   // a read succeeded
	writes  = "writes"  // a write succeeded
	fails   = "fails"   // the last call failed
	denied  = "denied"  // the last call was denied
	recover = "recover" // one failed, the next succeeded
)

func guardAfter(history string) *stall.Guard {
	g := stall.New(nil)
	read := stall.Call{Tool: "read_file", Args: `{"path":"main.go"}`}
	edit := stall.Call{Tool: "edit_file", Args: `{"path":"main.go"}`}
	switch history {
	case reads:
		g.After(read, stall.Outcome{Result: "package main"})
	case writes:
		g.After(edit, stall.Outcome{Result: "edited main.go", Changed: true})
	case fails:
		g.After(edit, stall.Outcome{Result: "error: old_string not found", Failed: true})
	case denied:
		g.After(edit, stall.Outcome{Result: "denied: not now", Failed: true, Denied: true})
	case recover:
		g.After(edit, stall.Outcome{Result: "error: old_string not found", Failed: true})
		g.After(read, stall.Outcome{Result: "package main"})
	}
	return g
}

func TestAnswer(t *testing.T) {
	const fine, announced, claimed, gaveUp = stall.Fine, stall.Announced, stall.Claimed, stall.GaveUp
	for _, c := range []struct {
		prompt, history, text string
		want                  stall.State
	}{
		// Normal answers.
		{"hi", nothing, "Hello! How can I help you today?", fine},
		{"hi", nothing, "Hello! I'll be happy to help. What would you like to change?", fine},
		{"What does main.go do?", reads, "It starts the server and waits for a signal.", fine},
		{"What does main.go do?", reads, "`main.go` does three things:\n\n1. reads the settings\n2. opens the store\n3. starts the screen", fine},
		{"explain the parser", reads, "The parser has two parts:\n- a scanner\n- a tree builder\n\nLet me know if you want to see the scanner.", fine},
		{"How do I run the tests?", nothing, "Run this:\n```bash\ngo test ./...\n```", fine},
		{"How do I create a branch?", nothing, "Use git:\n```sh\ngit switch -c name\n```\nThe branch is created at once.", fine},
		{"write a bash one-liner that counts lines", nothing, "```bash\nwc -l *.go\n```", fine},
		{"write a poem about crabs", nothing, "A crab walked by the sea,\nas sideways as can be.", fine},
		{"show me an example of a table test", nothing, "```go\nfunc TestX(t *testing.T) {}\n```\nEach row is one case.", fine},
		{"fix the typo in README.md", writes, "I fixed the typo in `README.md`: \"recieve\" is now \"receive\".", fine},
		{"fix the typo in README.md", writes, "Done.", fine},
		{"fix the typo in README.md", reads, "There is no typo in README.md: every word is spelled right. Nothing was changed.", fine},
		{"fix the typo in README.md", reads, "The typo was already fixed in the last commit.", fine},
		{"add a test", writes, "I've added `TestOpen`. You can run it with:\n```bash\ngo test ./store\n```", fine},
		{"add a test", denied, "You denied the edit, so nothing was changed. Tell me what you would like instead.", fine},
		{"add a test", denied, "I was not allowed to write the file, but it was created by someone else.", fine},
		{"delete main.go", denied, "I cannot delete the file without your permission.", fine},
		{"run the tests", reads, "All 42 tests pass.", fine},
		{"run the tests", reads, "Two tests fail: TestOpen and TestClose. Both expect an error that is not returned any more.", fine},
		{"run the tests", fails, "The tests do not compile: `store.go:12: undefined: Foo`. The name was changed in the last commit.", fine},
		{"read foo.txt", fails, "There is no file named foo.txt in this project.", fine},
		{"read foo.txt", fails, "foo.txt does not exist. Did you mean docs/foo.txt?", fine},
		{"rename the function", reads, "There are two functions named Open. Which one do you mean?", fine},
		{"refactor the store", reads, "Before I start: should I keep the old interface?", fine},
		{"refactor the store", reads, "I will split it into two files if you agree. Shall I go on?", fine},
		{"refactor the store", writes, "The store is split into two files. Next, you could move the tests.", fine},
		{"fix the bug", writes, "The bug is fixed. I'll leave the other warnings as they are.", fine},
		{"fix the bug", writes, "Fixed. If you like, I will add a test for it.", fine},
		{"find the TODOs", reads, "There are three:\n- main.go:12\n- store.go:40\n- ui.go:7", fine},
		{"find the TODOs", reads, "| file | line |\n|---|---|\n| main.go | 12 |", fine},
		{"find the TODOs", reads, "No TODO was found.", fine},
		{"Was macht main.go?", reads, "Die Datei startet den Server und wartet auf ein Signal.", fine},
		{"Ändere den Titel", writes, "Der Titel wurde geändert. Soll ich auch die Tests anpassen?", fine},
		{"Ändere den Titel", reads, "Der Titel ist bereits richtig, es wurde nichts geändert.", fine},
		{"Que fait main.go ?", reads, "Il démarre le serveur. Dites-moi si vous voulez plus de détails.", fine},
		{"Corrige la faute", writes, "J'ai corrigé la faute dans README.md.", fine},
		{"¿Qué hace main.go?", reads, "Inicia el servidor y espera una señal.", fine},
		{"Arregla el error", writes, "He corregido el error en main.go.", fine},
		{"what changed last week?", reads, "The parser was rewritten last week, and a cache was added.", fine},
		{"summarise the changes", reads, "The following was updated: the parser and the cache.", fine},
		{"check the code", reads, "It looks good. One remark: `x` is never used.", fine},
		{"check the code", reads, "The loop is wrong. The right condition would be:\n```go\nfor i := range n {\n```", fine},
		{"create a plan for the refactoring", reads, "1. I will read the store.\n2. I will split the file.\n3. I will run the tests.\n\nThat is all.", fine},
		{"is the file saved?", reads, "Yes, the file was saved.", fine},
		{"don't change anything, only look at main.go", reads, "It is fine.", fine},
		{"fix the bug", recover, "I'm unable to say which of the two functions you mean.", fine},

		{"write release notes for v2", reads, "Support for images has been added and the parser has been rewritten.", fine},
		{"fix the warning", reads, "There is nothing to fix. You can see for yourself:\n```bash\ngo vet ./...\n```", fine},
		{"fix the port", reads, "To change it I need to know which port to use.", fine},
		{"why does it fail?", reads, "Now I understand why the test fails: the list is not sorted.", fine},
		{"why does it fail?", reads, "Let me explain. The list is not sorted, so the search finds nothing.", fine},
		{"starte die Tests", writes, "Die Tests laufen jetzt durch, du kannst den Server starten.", fine},
		{"remember that I like tabs", nothing, "I will use tabs from now on.", fine},
		{"what is the last key?", reads, "The last key is `name:`", fine},
		{"yes", nothing, "Good. Which file do you mean?", fine},
		{"add a flag", writes, "The flag is there. In the future I will add tests at once.", fine},
		{"Ajoute un test", writes, "C'est fait. Je peux aussi ajouter un exemple.", fine},
		{"Crea un archivo", writes, "Listo. ¿Quieres que ejecute las pruebas?", fine},

		// Announcements.
		{"change the port to 8080", reads, "I'll now edit main.go:", announced},
		{"change the port to 8080", reads, "The port is set in main.go. Let me update it.", announced},
		{"change the port to 8080", nothing, "Sure! First, let me read the file to see where the port is set.", announced},
		{"change the port to 8080", reads, "I found the line. Now I will change the port to 8080...", announced},
		{"why does it fail?", reads, "Interesting. Let me check the test file:", announced},
		{"fix the bug", recover, "The edit failed, so I need to read the file again.", announced},
		{"fix the bug", reads, "Here is the corrected code:", announced},
		{"fix the bug", reads, "That explains it. I'll go ahead and make the change in store.go.", announced},
		{"fix the bug", reads, "Ok.\n\n**Next step: update the parser:**", announced},
		{"fix the bug", reads, "I’m going to run the tests now.", announced},
		{"Ändere den Port", reads, "Ich werde jetzt die Datei main.go bearbeiten.", announced},
		{"Ändere den Port", reads, "Als Nächstes die Änderung in main.go:", announced},
		{"Change le port en 8080", reads, "Je vais maintenant modifier le fichier main.go.", announced},
		{"Corrige la faute", nothing, "D'accord, je vais lire le fichier :", announced},
		{"Cambia el puerto", reads, "Ahora voy a editar el archivo main.go.", announced},
		{"Cambia el puerto", reads, "Voy a ejecutar las pruebas:", announced},
		{"把端口改成 8080", reads, "我现在修改 main.go：", announced},
		{"исправь порт", reads, "Сейчас изменю файл main.go:", announced},

		{"yes, do it", nothing, "Great, I'll now edit main.go.", announced},
		{"weiter", nothing, "Ich lese jetzt die Datei main.go.", announced},
		{"can you add a flag?", reads, "I'll first look at the parser of the flags:", announced},

		// Claims.
		{"change the port to 8080", nothing, "I've updated main.go. The port is 8080 now.", claimed},
		{"create hello.txt", nothing, "```bash\necho hello > hello.txt\n```\nFile created.", claimed},
		{"create hello.txt", reads, "The file hello.txt has been created successfully.", claimed},
		{"fix the typo", reads, "I fixed the typo in README.md.", claimed},
		{"install the package", nothing, "Use this:\n```bash\nnpm install left-pad\n```", claimed},
		{"Erstelle hallo.txt", nothing, "Die Datei hallo.txt wurde erfolgreich erstellt.", claimed},
		{"Ändere den Titel", reads, "Ich habe den Titel in README.md geändert.", claimed},
		{"Corrige la faute", reads, "J'ai corrigé la faute dans README.md.", claimed},
		{"Ajoute un test", nothing, "Le test a été ajouté dans store_test.go.", claimed},
		{"Crea hola.txt", nothing, "He creado el archivo hola.txt.", claimed},

		// Giving up.
		{"change the port", fails, "I'm sorry, but I'm unable to edit the file. Please provide the contents.", gaveUp},
		{"change the port", fails, "It seems I cannot edit main.go.", gaveUp},
		{"read main.go", nothing, "I don't have access to your files. Please paste the contents here.", gaveUp},
		{"run the tests", nothing, "As an AI language model, I can't run commands.", gaveUp},
		{"Ändere den Port", fails, "Leider kann ich die Datei nicht ändern.", gaveUp},
		{"Change le port", fails, "Malheureusement, le fichier reste inchangé.", gaveUp},
		{"Cambia el puerto", fails, "No puedo editar el archivo.", gaveUp},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := guardAfter(c.history).Answer(stall.Reply{Text: c.text, Tokens: 50, DoneReason: "stop", Tools: true, Prompt: c.prompt})
			if got.State != c.want || (got.Action == stall.Nudge) != (c.want != fine) || (got.Text == "") != (c.want == fine) {
				t.Errorf("after %s, to %q: %+v, want %q", c.history, c.prompt, got, c.want)
			}
		})
	}
}

func TestAnswerWithoutToolsIsLeftAlone(t *testing.T) {
	if v := stall.New(nil).Answer(stall.Reply{Text: "I'll now edit main.go:", Prompt: "fix it", Tokens: 9}); v != (stall.Verdict{}) {
		t.Errorf("a model without tools cannot do better: %+v", v)
	}
}

func TestEmptyAnswersAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		reply  stall.Reply
		action stall.Action
		says   string // the nudge, and the error when it does not help
		stops  string
	}{
		"nothing at all":     {stall.Reply{Tokens: 1, DoneReason: "stop"}, stall.Retry, "", "empty answer"},
		"only a load":        {stall.Reply{DoneReason: "load"}, stall.Retry, "", "loaded the model"},
		"only thinking":      {stall.Reply{Thinking: "hm", Tokens: 90}, stall.Nudge, "no answer", "only thought"},
		"a call got dropped": {stall.Reply{Text: " \n", Tokens: 40, DoneReason: "stop"}, stall.Nudge, "dropped", "40 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			g := stall.New(nil)
			for range 2 {
				v := g.Answer(c.reply)
				if v.State != stall.Empty || v.Action != c.action || !strings.Contains(v.Text, c.says) {
					t.Fatalf("%+v, want %s with %q", v, c.action, c.says)
				}
			}
			wantStop(t, g.Answer(c.reply), stall.Empty, c.stops)
		})
	}
}

// wantStop checks that a turn never ends without a word.
func wantStop(t *testing.T, v stall.Verdict, state stall.State, says string) {
	t.Helper()
	if v.State != state || v.Action != stall.Stop || !strings.Contains(v.Error, says) || v.Hint == "" {
		t.Errorf("%+v, want a stop of state %q that says %q and what to do", v, state, says)
	}
}

func TestNudgesAreCapped(t *testing.T) {
	reply := func(text string) stall.Reply {
		return stall.Reply{Text: text, Prompt: "change the port", Tools: true, Tokens: 9}
	}
	t.Run("an announcement stops the turn after two", func(t *testing.T) {
		g := guardAfter(reads)
		for range 2 {
			if v := g.Answer(reply("I'll edit main.go now:")); v.Action != stall.Nudge {
				t.Fatalf("%+v", v)
			}
		}
		wantStop(t, g.Answer(reply("I'll edit main.go now:")), stall.Announced, "I'll edit main.go now:")
		if v := g.Answer(reply("done")); v != (stall.Verdict{}) {
			t.Errorf("an answer of one word is one: %+v", v)
		}
	})
	t.Run("a claim is shown with a note after one", func(t *testing.T) {
		g := guardAfter(reads)
		if v := g.Answer(reply("I updated main.go.")); v.Action != stall.Nudge {
			t.Fatalf("%+v", v)
		}
		if v := g.Answer(reply("I updated main.go.")); v.Action != stall.Pass || !strings.Contains(v.Note, "no file was changed") {
			t.Errorf("%+v", v)
		}
	})
	t.Run("giving up is shown with the error after one", func(t *testing.T) {
		g := guardAfter(fails)
		if v := g.Answer(reply("I cannot edit it.")); v.Action != stall.Nudge || !strings.Contains(v.Text, "old_string not found") {
			t.Fatalf("%+v", v)
		}
		if v := g.Answer(reply("I cannot edit it.")); v.Action != stall.Pass || !strings.Contains(v.Note, "old_string not found") {
			t.Errorf("%+v", v)
		}
	})
	t.Run("a lost stream is asked again once", func(t *testing.T) {
		g := stall.New(nil)
		if v := g.Lost(true); v.State != stall.Closed || v.Action != stall.Retry {
			t.Fatalf("%+v", v)
		}
		wantStop(t, g.Lost(true), stall.Closed, "kept")
	})
	t.Run("a repeating answer is asked again once", func(t *testing.T) {
		g, l := stall.New(nil), stall.Loop{Unit: "the", Times: 40}
		if v := g.Repeated(l); v.State != stall.Repeating || v.Action != stall.Retry {
			t.Fatalf("%+v", v)
		}
		wantStop(t, g.Repeated(l), stall.Repeating, `"the" 40 times`)
	})
	t.Run("all together are capped", func(t *testing.T) {
		g := guardAfter(reads)
		g.Answer(reply("I'll edit main.go now:"))
		g.Answer(reply("I'll edit main.go now:"))
		g.Answer(reply("I updated main.go."))
		g.Lost(false)
		wantStop(t, g.Answer(reply("")), stall.Empty, "understood none")
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add("fix it", "I'll now edit main.go:")
	f.Add("", "```\n```bash\n\xff:")
	f.Add("Ändere das", "“Ich habe es geändert.” \x00")
	f.Fuzz(func(t *testing.T, prompt, text string) {
		v := guardAfter(reads).Answer(stall.Reply{Text: text, Prompt: prompt, Tools: true, Tokens: 2})
		if v.Action == stall.Stop && (v.Error == "" || v.Hint == "") {
			t.Errorf("stops without a word: %+v", v)
		}
	})
}
