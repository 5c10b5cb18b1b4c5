// Command etcd is the etcd server, built from the module proxy. Its version is a constant of the library, not a link flag.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
