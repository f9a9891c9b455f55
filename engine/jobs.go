package engine

import "chela/toolkit/guard"

// JobsChanged lists the session's background processes after one began or
// ended, the oldest first. What they print is asked for with [Session.Jobs].
type JobsChanged struct {
	Jobs []guard.JobState `json:"jobs"`
}

// Type is the stable word of --json.
func (JobsChanged) Type() string { return "jobs" }

// openJobs makes the table of the session's background processes.
func (s *Session) openJobs() {
	s.jobs = guard.NewJobs(s.engine.redactor, func() { s.publish(0, JobsChanged{s.jobs.Snapshot()}) })
}

// Jobs are the session's background processes as they are now, the oldest first.
func (s *Session) Jobs() []guard.JobState { return s.jobs.Snapshot() }

// KillJob ends a background process with all that it started. It returns at
// once; that the process is gone is an event. False: there is none with this ID.
func (s *Session) KillJob(id string) bool {
	j, ok := s.jobs.Get(id)
	if ok {
		j.Stop()
	}
	return ok
}
