// Package sandbox runs commands where they can do no harm: in an OS sandbox
// that is made of what this machine can be shown to have.
//
// On Linux a sandboxed command
//
//   - writes to the workspace, to a cache of its own and to a private /tmp, and
//     nowhere else; what makes git or chela do things (.git in every form that
//     was there when it started, chela's own folders) stays as it is;
//   - does not see the credentials in the home folder, chela's own folders, the
//     sockets in /run, other processes or their environment;
//   - has no network beside its own loopback, unless the policy gives it one;
//   - has no capability, and stays within the policy's limits;
//   - is gone with everything that it started when its run ends, or chela does.
//
// The layers are namespaces (made by bubblewrap, or by this program itself),
// Landlock, seccomp and resource limits. [Probe] finds out which of them work,
// by trying to break out of each; [Support] names only those that held. A layer
// that held then and fails later fails the command: it does not run.
//
// What the kernel cannot prevent is looked at afterwards: new .git folders, bare
// repositories and files that something runs later are reported with the
// command's exit as untrusted.
//
// On other systems nothing is supported, and Probe says so.
//
// Types are safe for concurrent use.
package sandbox
