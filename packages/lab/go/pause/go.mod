module github.com/valkey-operator/valkey-operator/packages/lab/go/pause

go 1.21
