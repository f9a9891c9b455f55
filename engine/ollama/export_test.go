package ollama

import "time"

// SetIdle changes how long a stream may be silent.
func (c *Client) SetIdle(d time.Duration) { c.idle = d }
