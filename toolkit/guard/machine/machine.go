// Package machine is the door to facts about the machine: its environment,
// processor, memory, disks, network and processes.
//
// It guarantees: nothing is changed; what looks secret is masked before it
// leaves (see guard.Redactor for the rest); each question ends with its context.
package machine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"

	"chela/toolkit/guard"
)

// Masked is what stands for a value that looks secret.
const Masked = "********"

// Env is chela's own environment; values that look secret are masked, and
// counted.
func Env() (vars map[string]string, masked int) {
	vars = map[string]string{}
	for _, kv := range os.Environ() {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		if value != "" && guard.SecretName(name) {
			value = Masked
			masked++
		}
		vars[name] = value
	}
	return vars, masked
}

// System is the operating system.
type System struct {
	Name     string `json:"name"` // such as linux
	Platform string `json:"platform"`
	Version  string `json:"version"`
	Kernel   string `json:"kernel"`
	Arch     string `json:"arch"`
	Hostname string `json:"hostname"`
	Uptime   string `json:"uptime"`
}

// OS asks for the operating system.
func OS(ctx context.Context) (System, error) {
	i, err := host.InfoWithContext(ctx)
	if err != nil {
		return System{}, fmt.Errorf("asking for the system: %w", err)
	}
	return System{i.OS, i.Platform, i.PlatformVersion, i.KernelVersion, runtime.GOARCH, i.Hostname, (time.Duration(i.Uptime) * time.Second).String()}, nil
}

// CPU is the processor.
type CPU struct {
	Model string     `json:"model"`
	Cores int        `json:"cores"` // logical ones
	MHz   float64    `json:"mhz,omitempty"`
	Load  [3]float64 `json:"load"` // over 1, 5 and 15 minutes; zero where the system has none
}

// Processor asks for the processor.
func Processor(ctx context.Context) (CPU, error) {
	out := CPU{Cores: runtime.NumCPU()}
	infos, err := cpu.InfoWithContext(ctx)
	if err != nil {
		return out, fmt.Errorf("asking for the processor: %w", err)
	}
	if len(infos) > 0 {
		out.Model, out.MHz = infos[0].ModelName, infos[0].Mhz
	}
	if l, err := load.AvgWithContext(ctx); err == nil {
		out.Load = [3]float64{l.Load1, l.Load5, l.Load15}
	}
	return out, nil
}

// Memory is the main memory, in bytes.
type Memory struct {
	Total     uint64 `json:"total"`
	Available uint64 `json:"available"`
	Used      uint64 `json:"used"`
	SwapTotal uint64 `json:"swap_total"`
	SwapUsed  uint64 `json:"swap_used"`
}

// Mem asks for the memory.
func Mem(ctx context.Context) (Memory, error) {
	v, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return Memory{}, fmt.Errorf("asking for the memory: %w", err)
	}
	out := Memory{Total: v.Total, Available: v.Available, Used: v.Used}
	if s, err := mem.SwapMemoryWithContext(ctx); err == nil {
		out.SwapTotal, out.SwapUsed = s.Total, s.Used
	}
	return out, nil
}

// Disk is one file system, in bytes.
type Disk struct {
	Mount string `json:"mount"`
	Type  string `json:"type"`
	Total uint64 `json:"total"`
	Free  uint64 `json:"free"`
}

// Disks asks for the file system of a folder, and those that are mounted beside.
func Disks(ctx context.Context, dir string) ([]Disk, error) {
	u, err := disk.UsageWithContext(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("asking for the disk of %s: %w", dir, err)
	}
	out := []Disk{{Mount: dir, Type: u.Fstype, Total: u.Total, Free: u.Free}}
	parts, err := disk.PartitionsWithContext(ctx, false)
	if err != nil {
		return out, nil // the workspace's own is known
	}
	for _, p := range parts {
		if u, err := disk.UsageWithContext(ctx, p.Mountpoint); err == nil && u.Total > 0 {
			out = append(out, Disk{Mount: p.Mountpoint, Type: p.Fstype, Total: u.Total, Free: u.Free})
		}
	}
	return out[:min(len(out), 12)], nil
}

// Interface is one network interface.
type Interface struct {
	Name  string   `json:"name"`
	Addrs []string `json:"addresses"`
	Up    bool     `json:"up"`
}

// Network asks for the interfaces.
func Network(ctx context.Context) ([]Interface, error) {
	list, err := net.InterfacesWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for the network: %w", err)
	}
	var out []Interface
	for _, i := range list {
		in := Interface{Name: i.Name, Addrs: []string{}, Up: slices.Contains(i.Flags, "up")}
		for _, a := range i.Addrs {
			in.Addrs = append(in.Addrs, a.Addr)
		}
		out = append(out, in)
	}
	return out, nil
}

// GPU is one graphics card that can compute, as far as the driver tells without
// a program of its own.
type GPU struct {
	Name  string `json:"name"`
	Total uint64 `json:"memory_total,omitempty"` // bytes
	Used  uint64 `json:"memory_used,omitempty"`
}

// GPUs looks for cards where Linux drivers describe them. Elsewhere there is
// none that can be told; loaded models say how much of them a card holds.
func GPUs() []GPU {
	out := []GPU{}
	cards, err := filepath.Glob("/sys/class/drm/card[0-9]*/device/mem_info_vram_total")
	if err == nil { // amdgpu
		for _, f := range cards {
			dir := filepath.Dir(f)
			out = append(out, GPU{Name: "AMD " + filepath.Base(filepath.Dir(dir)), Total: number(f), Used: number(filepath.Join(dir, "mem_info_vram_used"))})
		}
	}
	infos, err := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
	if err != nil {
		return out
	}
	for _, f := range infos {
		data, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if name, ok := strings.CutPrefix(line, "Model:"); ok {
				out = append(out, GPU{Name: strings.TrimSpace(name)})
			}
		}
	}
	return out
}

func number(file string) (n uint64) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(data), &n); err != nil {
		return 0
	}
	return n
}

// Process is one running program.
type Process struct {
	PID     int32   `json:"pid"`
	User    string  `json:"user"`
	CPU     float64 `json:"cpu"`    // percent of one core, since it started
	Memory  uint64  `json:"memory"` // resident bytes
	Command string  `json:"command"`
}

// Processes lists what runs, by filter (a part of the command line, in any
// case), in an order: cpu, memory, pid or name. total is how many match.
func Processes(ctx context.Context, filter, order string, limit int) (list []Process, total int, err error) {
	all, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("listing processes: %w", err)
	}
	for _, p := range all {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		name, err := p.NameWithContext(ctx)
		if err != nil {
			continue // it ended meanwhile
		}
		v := Process{PID: p.Pid, Command: name}
		if args, err := p.CmdlineSliceWithContext(ctx); err == nil && len(args) > 0 {
			v.Command = strings.Join(scrub(args), " ")
		}
		if filter != "" && !strings.Contains(strings.ToLower(v.Command), strings.ToLower(filter)) {
			continue
		}
		v.User, _ = p.UsernameWithContext(ctx) // an account may be gone
		v.CPU, _ = p.CPUPercentWithContext(ctx)
		if m, err := p.MemoryInfoWithContext(ctx); err == nil && m != nil {
			v.Memory = m.RSS
		}
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b Process) int {
		switch order {
		case "memory":
			return cmp.Compare(b.Memory, a.Memory)
		case "pid":
			return cmp.Compare(a.PID, b.PID)
		case "name":
			return cmp.Compare(a.Command, b.Command)
		}
		return cmp.Compare(b.CPU, a.CPU)
	})
	return list[:min(limit, len(list))], len(list), nil
}

// scrub masks what looks secret in a command line: --token x, --token=x, and
// NAME=value with such a name.
func scrub(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		name, value, ok := strings.Cut(a, "=")
		bare := strings.TrimLeft(name, "-")
		switch {
		case ok && value != "" && guard.SecretName(strings.ReplaceAll(bare, "-", "_")):
			out[i] = name + "=" + Masked
		case !ok && strings.HasPrefix(a, "--") && guard.SecretName(strings.ReplaceAll(bare, "-", "_")) && i+1 < len(out):
			out[i+1] = Masked
		}
	}
	return out
}
