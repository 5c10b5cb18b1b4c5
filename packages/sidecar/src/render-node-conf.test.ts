import { knowsSetting, oldestSupportedLine, parseConf } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { nodeTimeoutMs, renderNodeConf } from './render-node-conf.ts';
import { readEnvironment } from './environment.ts';
import { variables } from './testing/variables.ts';

const environment = readEnvironment(variables);

describe('valkey.conf of a node', () => {
  it('is what Valkey has been tried with', () => {
    const settings = {
      maxmemory: '100mb',
      save: '3600 1 300 100',
      'client-output-buffer-limit': ['normal 0 0 0', 'replica 256mb 64mb 60'],
    };
    const { opening, rest } = renderNodeConf({ hash: 'h', settings }, environment);
    expect(opening + rest).toMatchInlineSnapshot(`
      "dir "/data"
      cluster-allow-replica-migration no
      cluster-announce-hostname vc-0.vc-headless.ns.svc
      cluster-announce-human-nodename vc-0
      cluster-announce-ip 10.0.0.1
      cluster-config-file nodes.conf
      cluster-enabled yes
      cluster-node-timeout 5000
      cluster-port 16379
      cluster-require-full-coverage no
      daemonize no
      enable-debug-command no
      enable-module-command no
      maxmemory 100mb
      port 6379
      protected-mode no
      rdb-del-sync-files yes
      repl-diskless-load on-empty-db
      save "3600 1 300 100"
      supervised no
      unixsocket /run/valkey/valkey.sock
      unixsocketperm 770
      client-output-buffer-limit "normal 0 0 0"
      client-output-buffer-limit "replica 256mb 64mb 60"
      "
    `);
  });

  it('is no file that Valkey would start on, before it is complete', () => {
    const { opening, rest } = renderNodeConf({ hash: 'h', settings: {} }, environment);
    expect(parseConf(opening)).toBeUndefined();
    expect(parseConf(rest)).toBeUndefined();
    expect(parseConf(opening + rest)).toBeDefined();
  });

  it('has only directives that the oldest supported version knows', () => {
    const { opening, rest } = renderNodeConf({ hash: 'h', settings: {} }, { ...environment, zone: 'a' });
    const names = (parseConf(opening + rest) ?? []).map(([name = '']) => name);
    expect(names.filter((name) => !knowsSetting(oldestSupportedLine, name))).toEqual([]);
  });

  it('lets the settings change what is a default, and nothing that is owned', () => {
    const settings = { 'cluster-node-timeout': '2000', port: '1', dir: '/tmp', 'cluster-enabled': 'no' };
    const { opening, rest } = renderNodeConf({ hash: 'h', settings }, environment);
    const lines = new Map((parseConf(opening + rest) ?? []).map(([name = '', value = '']) => [name, value]));
    expect(Object.fromEntries(Object.keys(settings).map((name) => [name, lines.get(name)]))).toEqual({
      'cluster-node-timeout': '2000',
      port: '6379',
      dir: '/data',
      'cluster-enabled': 'yes',
    });
    expect(nodeTimeoutMs({ hash: 'h', settings })).toBe(2000);
  });

  it.each(['a\nb', 'a\rb', 'a\0b'])('refuses a value that would be a directive of its own: %j', (value) => {
    expect(() => renderNodeConf({ hash: 'h', settings: { maxmemory: value } }, environment)).toThrow(/line break/);
  });

  it('refuses a name that is no name', () => {
    expect(() => renderNodeConf({ hash: 'h', settings: { 'save 1 1\nport': '1' } }, environment)).toThrow(
      /not the name/,
    );
  });
});
