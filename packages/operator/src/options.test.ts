import { describe, expect, test } from 'vitest';
import { parseOptions } from './options.ts';

const env = { POD_NAME: 'op-0', POD_NAMESPACE: 'valkey-system', VALKEY_OPERATOR_VERSION: '1.2.3' };

describe('parseOptions', () => {
  test('needs nothing but what the Deployment sets', () => {
    expect(parseOptions([], env)).toEqual({
      run: {
        namespace: 'valkey-system',
        podName: 'op-0',
        version: '1.2.3',
        watchNamespaces: undefined,
        trustDomain: 'valkey.local',
        httpPort: 8080,
        gatewayPort: 17379,
        logLevel: 'info',
        recordDir: undefined,
        collector: undefined,
        crashPoints: false,
      },
    });
  });

  test('takes flags over defaults', () => {
    const args = ['--watch-namespaces=a,b', '--trust-domain=example.org', '--http-port=1', '--record-dir=/tmp/x'];
    expect(parseOptions(args, env)).toMatchObject({
      run: { watchNamespaces: ['a', 'b'], trustDomain: 'example.org', httpPort: 1, recordDir: '/tmp/x' },
    });
  });

  test('takes an empty list of namespaces for all of them', () => {
    expect(parseOptions(['--watch-namespaces='], env)).toMatchObject({ run: { watchNamespaces: undefined } });
  });

  test('names everything that is missing in the environment', () => {
    expect(() => parseOptions([], {})).toThrow('POD_NAMESPACE, POD_NAME');
  });

  test.each(['0', '65536', 'http', '1.5'])('refuses the port %s', (port) => {
    expect(() => parseOptions([`--http-port=${port}`], env)).toThrow('--http-port must be a port number');
  });

  test('refuses a level that the log does not have', () => {
    expect(() => parseOptions(['--log-level=loud'], env)).toThrow('--log-level must be one of');
  });

  test('refuses a flag that it does not know', () => {
    expect(() => parseOptions(['--colour'], env)).toThrow('--colour');
  });

  test('prints its version', () => {
    expect(parseOptions(['--version'], env)).toEqual({ print: '1.2.3' });
  });

  test('explains every flag with its default', () => {
    const parsed = parseOptions(['--help'], {});
    expect(parsed).toEqual({ print: expect.stringContaining('--gateway-port') });
    expect(parsed).toEqual({ print: expect.stringMatching(/--trust-domain .*\(default valkey.local\)/) });
  });
});
