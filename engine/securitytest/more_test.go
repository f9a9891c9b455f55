package securitytest

import (
	"strings"
	"testing"
)

// more are cases in the form of security.jsonl: threats of the table that the
// file has no line for, and every operation that it does not use.
var more = []string{
	`{"id":"hard link","tool":"write_file","arguments":{"path":"h","content":"x"},"setup":[{"op":"file","path":"../out/s","content":"OUTSIDE"},{"op":"hardlink","path":"h","target":"../out/s"},{"op":"assert_after","unchanged":["../out/s"]}],"mode":"full","expect":"allow","why":"a write makes a new file, so other names of the old one keep it"}`,
	`{"id":"device","tool":"read_file","arguments":{"path":"z"},"setup":[{"op":"require","root":true},{"op":"mknod","path":"z","type":"c","major":1,"minor":5},{"op":"assert_after","max_ms":2000}],"mode":"full","expect":"error","why":"/dev/zero in the workspace is no file"}`,
	`{"id":"headless","tool":"write_file","arguments":{"path":"a","content":"x"},"setup":[{"op":"headless"},{"op":"assert_after","absent":["a"]}],"mode":"ask","expect":"ask","why":"nobody there: the question is a denial"}`,
	`{"id":"no sandbox","tool":"exec","arguments":{"command":"ls"},"setup":[{"op":"sandbox_unavailable"}],"mode":"sandbox","expect":"deny","why":"without a sandbox, sandbox mode runs no command"}`,
	`{"id":"sandbox","tool":"exec","arguments":{"command":"cat < /dev/tcp/127.0.0.1/11434"},"setup":[{"op":"require","sandbox":true}],"mode":"sandbox","expect":"deny","why":"the floor holds where the sandbox would, too"}`,
	`{"id":"swapped script","tool":"exec","arguments":{"command":"./s.sh"},"setup":[{"op":"script","path":"s.sh","content":"#!/bin/sh\ntrue\n"},{"op":"approve_then","ops":[{"op":"script","path":"s.sh","content":"#!/bin/sh\ntouch {{TMP}}/out/mark\n"}]},{"op":"assert_after","absent":["../out/mark"]}],"mode":"ask","expect":"ask","why":"a script that changed since the question does not run"}`,
	`{"id":"swapped file","tool":"edit_file","arguments":{"path":"a","old_string":"one","new_string":"two"},"setup":[{"op":"file","path":"a","content":"one\n"},{"op":"approve_then","ops":[{"op":"file","path":"a","content":"one and more\n"}]},{"op":"assert_after","exists":["a"]}],"mode":"ask","expect":"ask","why":"a file that changed since the question is not edited"}`,
	`{"id":"orphan","tool":"exec","arguments":{"command":"(setsid sleep 98765 &) ; sleep 0.1"},"setup":[{"op":"assert_after","no_process":["sleep 98765"],"max_ms":5000}],"mode":"full","expect":"allow","why":"what detached itself ends with the call"}`,
	`{"id":"shown","tool":"exec","arguments":{"command":"rm -rf build"},"setup":[{"op":"dir","path":"build"},{"op":"ui","keys":["y"],"at_ms":[0]},{"op":"assert_after","exists":["build"],"screen_has":["rm -rf build"]}],"mode":"standard","expect":"ask","why":"the command is on the screen"}`,
	`{"id":"cron","tool":"exec","arguments":{"command":"touch a"},"setup":[{"op":"origin","value":"cron"},{"op":"advance","minutes":5},{"op":"assert_after","absent":["a"]}],"mode":"standard","expect":"ask","why":"a schedule has no more leave than a person"}`,
	`{"id":"approved once","tool":"exec","arguments":{"command":"touch a"},"setup":[{"op":"approved","tool":"exec","arguments":{"command":"touch a"},"scope":"once"}],"mode":"ask","expect":"ask","why":"once is once"}`,
	`{"id":"deny rule","tool":"exec","arguments":{"command":"git status"},"setup":[{"op":"rule","effect":"deny","tool":"exec","match":["git","status"]}],"mode":"full","expect":"deny","why":"deny goes before everything, also in full mode"}`,
	`{"id":"bare","tool":"git_status","arguments":{"path":"sub"},"setup":[{"op":"git_init","path":".","files":{"a.txt":"one\n"},"commit":true},{"op":"file","path":"sub/HEAD","content":"ref: refs/heads/main\n"},{"op":"file","path":"sub/config","content":"[core]\n\tbare = true\n\tfsmonitor = touch {{TMP}}/out/mark;false\n"},{"op":"dir","path":"sub/objects"},{"op":"dir","path":"sub/refs"},{"op":"assert_after","absent":["../out/mark"]}],"mode":"full","expect":"error","why":"a folder in the shape of a repository is none"}`,
}

func TestMoreCases(t *testing.T) {
	for _, line := range more {
		c, err := decodeCase([]byte(line), places{})
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		t.Run(strings.ReplaceAll(c.ID, " ", "_"), func(t *testing.T) { runCase(t, []byte(line)) })
	}
}
