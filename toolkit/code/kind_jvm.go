package code

import (
	"encoding/xml"
	"path"
	"strings"
)

var jvmExts = []string{".java", ".kt", ".kts", ".groovy", ".scala"}

// pom is what is looked at of pom.xml.
type pom struct {
	ArtifactID string   `xml:"artifactId"`
	Modules    []string `xml:"modules>module"`
	Deps       []struct {
		ArtifactID string `xml:"artifactId"`
		Scope      string `xml:"scope"`
	} `xml:"dependencies>dependency"`
}

func inspectMaven(s site) *Stack {
	if s.find("pom.xml") == "" {
		return nil
	}
	st := &Stack{Kind: "maven", Languages: []string{"Java"}, Manager: "maven", Exts: jvmExts, Versions: [][]string{{"java", "-version"}}}
	st.Configs = s.all("pom.xml", "mvnw", "checkstyle.xml")
	var m pom
	// A pom.xml that is not understood is still one.
	_ = xml.Unmarshal([]byte(s.text("pom.xml")), &m)
	st.Name = m.ArtifactID
	for _, d := range m.Deps {
		if d.Scope == "test" {
			st.DevDeps++
		} else {
			st.Deps++
		}
		st.Frameworks = javaFramework(st.Frameworks, d.ArtifactID)
	}
	// A wrapper inside the workspace is run through its interpreter.
	run := []string{"mvn"}
	if s.find("mvnw") != "" {
		run = []string{"sh", "mvnw"}
	}
	st.command = func(job Job, o Options) (Command, error) { return maven(s, run, job, o) }
	return st
}

func javaFramework(list []string, artifact string) []string {
	for prefix, name := range map[string]string{"spring-boot": "spring-boot", "quarkus": "quarkus", "micronaut": "micronaut", "junit": "junit"} {
		if strings.HasPrefix(artifact, prefix) {
			list = known(list, prefix, map[string]string{prefix: name})
		}
	}
	return list
}

// class is the name of the class that a file is about.
func class(o Options) string {
	base := path.Base(o.Target)
	return strings.TrimSuffix(base, path.Ext(base))
}

func maven(s site, run []string, job Job, o Options) (Command, error) {
	c := Command{Reason: "pom.xml", Exts: jvmExts, Problems: ReadJavac, Tool: "maven"}
	base := append(run, "-B", "-ntp")
	code := "pom.xml decides which plugins maven runs"
	xmlText := s.text("pom.xml")
	switch job {
	case Test:
		c.Argv, c.Tests, c.Reports = append(base, "test"), ReadJUnit, []string{"target/surefire-reports/TEST-*.xml", "*/target/surefire-reports/TEST-*.xml"}
		pattern := ""
		if o.Target != "" && o.IsFile {
			pattern = class(o)
		}
		if m := o.Grep; m != "" {
			pattern += "#" + m
		} else if o.Select != "" {
			pattern += "#" + o.Select
		}
		if strings.HasPrefix(pattern, "#") {
			pattern = "*" + pattern
		}
		if pattern != "" {
			c.Argv = append(c.Argv, "-Dtest="+pattern, "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false")
		}
		if o.Coverage {
			c.Notes = append(c.Notes, "coverage needs a plugin such as jacoco; it is not read")
		}
		return c, nil
	case Typecheck:
		c.Argv, c.Asks = append(base, "-q", "test-compile"), []string{code}
	case Lint:
		if !strings.Contains(xmlText, "maven-checkstyle-plugin") || o.Fix {
			return none("pom.xml names no checkstyle plugin, or it cannot fix")
		}
		c.Tool, c.Argv, c.Asks = "checkstyle", append(base, "checkstyle:check"), []string{code}
	case Build:
		goal := "package"
		if o.Script != "" {
			goal = o.Script
		}
		c.Argv, c.Asks = append(base, "-DskipTests", dashless(goal)), []string{code}
	case Format:
		if !strings.Contains(xmlText, "spotless-maven-plugin") {
			return none("pom.xml names no spotless plugin")
		}
		c.Tool, c.Asks, c.Unformed = "spotless", []string{code}, ReadReformat
		if c.Argv = append(base, "spotless:apply"); o.Check {
			c.Argv = append(base, "spotless:check")
		}
	case Start:
		if !strings.Contains(xmlText, "spring-boot-maven-plugin") {
			return none("pom.xml names no plugin that runs it")
		}
		c.Argv = append(base, "spring-boot:run")
	}
	return c, nil
}

func inspectGradle(s site) *Stack {
	file := s.find("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
	if file == "" {
		return nil
	}
	st := &Stack{Kind: "gradle", Languages: []string{"Java"}, Manager: "gradle", Exts: jvmExts, Versions: [][]string{{"java", "-version"}}}
	st.Configs = s.all("build.gradle*", "settings.gradle*", "gradle.properties", "gradlew")
	text := s.text("build.gradle") + s.text("build.gradle.kts")
	if strings.Contains(text, "kotlin") {
		st.Languages = []string{"Kotlin"}
	}
	for _, f := range []string{"spring-boot", "quarkus", "micronaut", "junit"} {
		if strings.Contains(strings.ReplaceAll(text, "springframework.boot", "spring-boot"), f) {
			st.Frameworks = append(st.Frameworks, f)
		}
	}
	run := []string{"gradle"}
	if s.find("gradlew") != "" {
		run = []string{"sh", "gradlew"}
	}
	st.command = func(job Job, o Options) (Command, error) { return gradle(file, text, run, job, o) }
	return st
}

func gradle(file, text string, run []string, job Job, o Options) (Command, error) {
	c := Command{Reason: file, Exts: jvmExts, Problems: ReadJavac, Tool: "gradle", Asks: []string{file + " is code that gradle runs"}, Shown: text}
	base := append(run, "--console=plain", "--no-daemon")
	switch job {
	case Test:
		c.Asks, c.Shown = nil, ""
		c.Argv, c.Tests, c.Reports = append(base, "test"), ReadJUnit, []string{"build/test-results/*/TEST-*.xml", "*/build/test-results/*/TEST-*.xml"}
		switch {
		case o.Grep != "":
			c.Argv = append(c.Argv, "--tests="+o.Grep)
		case o.Target != "" && o.IsFile && o.Select != "":
			c.Argv = append(c.Argv, "--tests="+class(o)+"."+o.Select)
		case o.Target != "" && o.IsFile:
			c.Argv = append(c.Argv, "--tests="+class(o))
		}
		if o.Coverage {
			c.Notes = append(c.Notes, "coverage needs a plugin such as jacoco; it is not read")
		}
	case Typecheck:
		c.Argv = append(base, "-q", "testClasses")
	case Lint:
		for _, l := range [][2]string{{"ktlint", "ktlintCheck"}, {"detekt", "detekt"}, {"checkstyle", "checkstyleMain"}} {
			if strings.Contains(text, l[0]) && !o.Fix {
				c.Tool, c.Argv = l[0], append(base, l[1])
				return c, nil
			}
		}
		return none("%s names none of ktlint, detekt, checkstyle, or they cannot fix", file)
	case Build:
		task := "assemble"
		if o.Script != "" {
			task = o.Script
		}
		c.Argv = append(base, dashless(task))
	case Format:
		if !strings.Contains(text, "spotless") {
			return none("%s names no spotless plugin", file)
		}
		c.Tool, c.Unformed = "spotless", ReadReformat
		if c.Argv = append(base, "spotlessApply"); o.Check {
			c.Argv = append(base, "spotlessCheck")
		}
	case Start:
		c.Argv = append(base, "run")
	}
	return c, nil
}
