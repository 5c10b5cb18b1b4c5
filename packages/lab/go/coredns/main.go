// Command coredns is CoreDNS with the plugins a cluster's DNS needs and no others: the full list brings in the clients of
// several clouds.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
)

// The order in which plugins see a query; a plugin that is compiled in but not listed here is refused in a Corefile.
func init() {
	dnsserver.Directives = []string{"reload", "ready", "health", "errors", "cache", "kubernetes"}
}

func main() {
	coremain.Run()
}
