package toolkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Planner states what a call with these arguments would do, without effects.
type Planner[A any] func(ctx context.Context, w *Workspace, args A) (Plan, error)

// Runner executes a plan.
type Runner[A any] func(ctx context.Context, w *Workspace, args A, p Plan, progress func(Progress)) (Result, error)

// Option changes how a tool is defined.
type Option func(*definition)

// AvailableIf sets the check of whether the tool can work here.
func AvailableIf(f func(ctx context.Context, w *Workspace) error) Option {
	return func(d *definition) { d.available = f }
}

type definition struct {
	spec      Spec
	available func(context.Context, *Workspace) error
	plan      func(context.Context, *Workspace, json.RawMessage) (Plan, error)
	run       func(context.Context, *Workspace, Plan, func(Progress)) (Result, error)
}

// Define builds a tool from its spec, a planner and a runner. The argument
// struct A gives the schema; see [SchemaFor] for the struct tags. A read-only
// tool may pass a nil planner: its plan is then its level and a summary made
// of the arguments.
//
// Define panics when the struct cannot be described or the spec is incomplete:
// both are mistakes of the program, found by the first test that runs.
func Define[A any](spec Spec, plan Planner[A], run Runner[A], options ...Option) Tool {
	schema, err := SchemaFor[A]()
	if err != nil {
		panic(fmt.Sprintf("tool %q: %v", spec.Name, err))
	}
	if spec.Name == "" || spec.Summary == "" || spec.Category == "" || run == nil {
		panic(fmt.Sprintf("tool %q: name, summary, category and run are required", spec.Name))
	}
	if plan == nil {
		if spec.Level != Safe {
			panic(fmt.Sprintf("tool %q is %s and needs a planner", spec.Name, spec.Level))
		}
		plan = func(context.Context, *Workspace, A) (Plan, error) { return Plan{}, nil }
	}
	spec.Schema = schema
	d := &definition{spec: spec}
	d.plan = func(ctx context.Context, w *Workspace, raw json.RawMessage) (Plan, error) {
		args, err := decode[A](schema, raw)
		if err != nil {
			return Plan{}, err
		}
		p, err := plan(ctx, w, args)
		if err != nil {
			return Plan{}, err
		}
		// A plan may only lower its level explicitly; the zero value of Level
		// is the worst, so "not set" must not be mistaken for a statement.
		if !p.levelSet() {
			p.Level = spec.Level
		}
		if p.Summary == "" {
			p.Summary = schema.summarise(raw)
		}
		canonical, err := schema.canonical(raw)
		if err != nil {
			return Plan{}, err
		}
		return p, p.seal(spec.Name, canonical)
	}
	d.run = func(ctx context.Context, w *Workspace, p Plan, progress func(Progress)) (Result, error) {
		if p.Tool != spec.Name || !p.Intact() {
			return Result{}, Errorf(CodeChanged, "the plan of %s is not the one that was judged.", spec.Name)
		}
		args, err := decode[A](schema, p.Args)
		if err != nil {
			return Result{}, err
		}
		if progress == nil {
			progress = func(Progress) {}
		}
		return run(ctx, w, args, p, progress)
	}
	for _, o := range options {
		o(d)
	}
	return d
}

func (d *definition) Spec() *Spec { return &d.spec }

func (d *definition) Available(ctx context.Context, w *Workspace) error {
	if d.available == nil {
		return nil
	}
	return d.available(ctx, w)
}

func (d *definition) Plan(ctx context.Context, w *Workspace, args json.RawMessage) (Plan, error) {
	return d.plan(ctx, w, args)
}

func (d *definition) Run(ctx context.Context, w *Workspace, p Plan, progress func(Progress)) (Result, error) {
	return d.run(ctx, w, p, progress)
}

// decode fills the argument struct, defaults first.
func decode[A any](s *Schema, raw json.RawMessage) (A, error) {
	var args A
	full, err := s.withDefaults(raw)
	if err != nil {
		return args, err
	}
	dec := json.NewDecoder(bytes.NewReader(full))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&args); err != nil {
		return args, Errorf(CodeInvalid, "arguments do not fit: %w", err)
	}
	return args, nil
}

// WithPrivate attaches what Run needs beyond the arguments. It is not part of
// the hash, so it must follow from what is.
func (p Plan) WithPrivate(v any) Plan {
	p.private = v
	return p
}

// Private returns what WithPrivate attached, or nil.
func (p Plan) Private() any { return p.private }

// AtLevel states the level of these arguments. Without it the plan has the
// level of its tool.
func (p Plan) AtLevel(l Level) Plan {
	p.Level = l
	p.stated = true
	return p
}

func (p Plan) levelSet() bool { return p.stated }
