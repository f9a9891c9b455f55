package code

import (
	"path"
	"strings"
)

// trxPrefix begins the names of the reports that dotnet test writes for us.
const trxPrefix = "chela-"

func inspectDotnet(s site) *Stack {
	file := s.find("*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj")
	if file == "" {
		return nil
	}
	st := &Stack{Kind: "dotnet", Languages: []string{"C#"}, Manager: "nuget", Exts: []string{".cs", ".fs", ".vb"}, Versions: [][]string{{"dotnet", "--version"}}}
	if path.Ext(file) == ".fsproj" {
		st.Languages = []string{"F#"}
	}
	st.Name = strings.TrimSuffix(file, path.Ext(file))
	st.Configs = s.all("*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj", "Directory.Build.*", "global.json", ".editorconfig")
	text := s.text(file)
	st.Deps = strings.Count(text, "<PackageReference")
	for _, f := range [][2]string{{"Microsoft.NET.Sdk.Web", "aspnet"}, {"xunit", "xunit"}, {"NUnit", "nunit"}, {"MSTest", "mstest"}} {
		if strings.Contains(text, f[0]) {
			st.Frameworks = append(st.Frameworks, f[1])
		}
	}
	st.command = func(job Job, o Options) (Command, error) { return dotnet(s, file, job, o) }
	return st
}

// filterValue escapes what dotnet test's filters give a meaning.
var filterValue = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "&", `\&`, "|", `\|`, "=", `\=`, "!", `\!`, "~", `\~`)

func dotnet(s site, file string, job Job, o Options) (Command, error) {
	c := Command{
		Reason: file, Exts: []string{".cs", ".fs", ".vb"}, Problems: ReadTsc, Tool: "dotnet " + string(job),
		Env: []string{"DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_NOLOGO=1"},
	}
	asks := []string{"the project's files decide which targets and packages the build runs"}
	switch job {
	case Test:
		c.Tests, c.Reports = ReadTRX, []string{"TestResults/" + trxPrefix + "*.trx"}
		c.Argv = []string{"dotnet", "test", file, "--nologo", "--results-directory", "TestResults", "--logger", "trx;LogFilePrefix=" + trxPrefix + "run"}
		switch {
		case o.Grep != "":
			c.Argv = append(c.Argv, "--filter", "FullyQualifiedName~"+filterValue.Replace(o.Grep))
		case o.Target != "" && o.IsFile:
			name := class(o)
			if o.Select != "" {
				name += "." + o.Select
			}
			c.Argv = append(c.Argv, "--filter", "FullyQualifiedName~"+filterValue.Replace(name))
		}
		if o.Coverage {
			c.Notes = append(c.Notes, "coverage needs a collector; it is not read")
		}
	case Typecheck, Build:
		c.Tool, c.Argv, c.Asks = "dotnet build", []string{"dotnet", "build", file, "--nologo", "-clp:NoSummary"}, asks
		if o.Script != "" {
			c.Argv = append(c.Argv, "-t:"+o.Script)
		}
	case Lint, Format:
		verb := "whitespace"
		if job == Lint {
			verb = "analyzers"
		}
		c.Tool, c.Asks, c.Unformed = "dotnet format", asks, ReadTscFiles
		c.Argv = []string{"dotnet", "format", verb, file, "--no-restore"}
		if o.Check || job == Lint && !o.Fix {
			c.Argv = append(c.Argv, "--verify-no-changes")
		}
		if o.Target != "" || len(o.Files) > 0 {
			c.Argv = append(append(c.Argv, "--include"), o.paths(s.dir)...)
		}
	case Start:
		c.Argv = []string{"dotnet", "run"}
	}
	return c, nil
}
