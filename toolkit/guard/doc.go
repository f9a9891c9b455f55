// Package guard is the only door through which tools touch files, the
// network, processes and secrets.
//
// It guarantees, in every mode and for every caller:
//
//   - [FS]: nothing outside the workspace is opened, listed, created or
//     replaced, whatever the path says and whoever swaps links meanwhile;
//     chela's own state, git internals and secret files are refused by name
//     and by what a link resolves to; a write is atomic and never reaches an
//     inode that is also linked elsewhere.
//   - [Net]: no connection is made to an address that is not public, judged on
//     the address that is dialled and again on every redirect, unless the person
//     listed that host and port; instance metadata services are never reached.
//   - [Runner]: a child gets a clean environment, no terminal and no input, and
//     its whole process tree is gone when its run ends; its output is bounded.
//   - [Redactor]: known secrets and well-known key formats do not pass.
//
// Refusals that no mode can lift are [*Denied]. Every other failure is an
// ordinary error that says what failed, with what, and what to do. All types
// are safe for concurrent use. The package decides nothing that a person could
// approve: that is the judge's work, one level up.
package guard
