package toolkit_test

import (
	"context"
	"strings"
	"testing"

	"chela/toolkit"
	"chela/toolkit/catalogue"
)

func TestNoToolCanShadowAnother(t *testing.T) {
	reg, err := catalogue.New()
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) toolkit.Tool {
		return toolkit.Define(toolkit.Spec{Name: name, Summary: "test", Category: "test", Level: toolkit.Safe}, nil,
			func(context.Context, *toolkit.Workspace, struct{}, toolkit.Plan, func(toolkit.Progress)) (toolkit.Result, error) {
				return toolkit.Result{}, nil
			})
	}
	for _, name := range []string{"read_file", "Read_File", "READ-FILE", "r\u0435ad_file", "read\u200b_file", "\uff52ead_file", "read_file ", "read file", "read_file\x00"} {
		if _, err := toolkit.NewRegistry(append(reg.All(), named(name))...); err == nil || !strings.Contains(err.Error(), "rename") {
			t.Errorf("%q stands beside read_file: %v", name, err)
		}
	}
	if _, err := toolkit.NewRegistry(append(reg.All(), named("plugin.other.read_file"))...); err != nil {
		t.Error(err)
	}
}
