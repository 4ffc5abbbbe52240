// SPDX-License-Identifier: GPL-2.0-only

// dashboard FILE: reads a dashboard as Grafana's own types have it: a member that they do not know, or one of
// another type, of the dashboard, a panel or its options, is an error.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// Of a dashboard that is to be imported: Grafana asks for the inputs, and keeps neither.
var ofImport = []string{"__inputs", "__requires"}

// An error of no words is a list of errors that is empty.
func fail(what string, err error) {
	if err != nil && err.Error() != "" {
		fmt.Println("FAIL", what, err)
		os.Exit(1)
	}
}

func main() {
	plugins.RegisterDefaultPlugins()
	text, err := os.ReadFile(os.Args[1])
	fail("reading", err)
	members := map[string]json.RawMessage{}
	fail("parsing", json.Unmarshal(text, &members))
	for _, name := range ofImport {
		if members[name] == nil {
			fail("import", fmt.Errorf("%s: there is none", name))
		}
		delete(members, name)
	}
	text, err = json.Marshal(members)
	fail("writing", err)
	var strict, d dashboard.Dashboard
	fail("types", strict.UnmarshalJSONStrict(text))
	fail("reading", json.Unmarshal(text, &d))
	fail("values", d.Validate())
	panels, queries := 0, 0
	for _, p := range d.Panels {
		if p.Panel != nil {
			panels++
			queries += len(p.Panel.Targets)
		}
	}
	if panels == 0 || queries < panels {
		fail("panels", fmt.Errorf("%d, with %d queries", panels, queries))
	}
	fmt.Printf("%d panels, %d queries\n", panels, queries)
}
