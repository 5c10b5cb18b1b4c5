/** Every port of the product. Valkey's bus is always its port + 10000, but stated, because turning TLS on would move it. */
export const ports = {
  valkey: 6379,
  valkeyBus: 16379,
  sidecarGrpc: 17369,
  sidecarHttp: 18369,
  operatorGrpc: 17379,
  exporter: 9121,
} as const;
