import { annotations } from '@valkey-operator/api';
import type { Pod } from '@valkey-operator/kube';
import { describe, expect, it } from 'vitest';
import { aPod } from '../testing/builders.ts';
import { viewTrial } from './trial-view.ts';

type State = NonNullable<NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state']>;

/** A pod on which settings are proven, whose Valkey is in this state. */
function view(state: State, ready = false, phase = 'Running', hasProbe = true) {
  const status = {
    phase,
    containerStatuses: [{ name: 'valkey', ready, state, image: '', imageID: '', restartCount: 0 }],
  };
  const pod = aPod('demo-trial', { status });
  pod.spec = { containers: [{ name: 'valkey', ...(hasProbe && { readinessProbe: {} }) }] };
  pod.metadata.annotations = { [annotations.applied]: 'hash image' };
  const { verdict, message, asked, version, stuck } = viewTrial(pod);
  expect(asked).toBe('hash image');
  return { verdict, message, ...(version !== undefined && { version }), ...(stuck && { stuck }) };
}

const ended = (exitCode: number, message?: string, reason = 'Error') =>
  view({ terminated: { exitCode, reason, ...(message !== undefined && { message }) } }, false, 'Failed');

describe('settings on a Valkey of its own', () => {
  it('are taken when it lives after a while, by the clock of its kubelet', () => {
    expect(view({ running: {} })).toEqual({ verdict: 'unknown', message: '' });
    expect(view({ running: {} }, true)).toEqual({ verdict: 'accepted', message: '' });
  });

  it('are refused in its words when it gives up', () => {
    const words =
      '\n*** FATAL CONFIG FILE ERROR (Version 9.1.2) ***\nReading the configuration file, at line 6\n>>> \'io-threads "200"\'\nargument must be between 1 and 128 inclusive\n';
    expect(ended(1, words)).toEqual({
      verdict: 'refused',
      message: 'io-threads "200" (argument must be between 1 and 128 inclusive)',
    });
    expect(ended(1, '1:M # Failed listening on port 6379 (tcp), aborting.\n')).toEqual({
      verdict: 'refused',
      message: '1:M # Failed listening on port 6379 (tcp), aborting.',
    });
    expect(ended(139)).toEqual({ verdict: 'refused', message: 'it ends without a word' });
    expect(ended(137, undefined, 'OOMKilled')).toMatchObject({ verdict: 'refused' });
  });

  it.each([
    [0, 'Completed'],
    [137, 'Error'],
    [143, 'Error'],
    [128, 'StartError'],
    [255, 'Unknown'],
  ])('are not judged when somebody else ends it (%i %s)', (exitCode, reason) => {
    expect(ended(exitCode, 'cannot join its cgroup', reason)).toEqual({ verdict: 'void', message: '' });
  });

  it('are not judged as long as it cannot start', () => {
    expect(view({ waiting: { reason: 'ImagePullBackOff', message: 'no such host' } }, false, 'Pending')).toEqual({
      verdict: 'unknown',
      message: 'container valkey does not start (ImagePullBackOff: no such host)',
      stuck: true,
    });
  });
});

describe('an image on a pod of its own', () => {
  const answer = (line: string) =>
    `\n*** FATAL CONFIG FILE ERROR (Version 9.1.2) ***\nReading the configuration file, at line 7\n>>> '${line}'\nBad directive or wrong number of arguments\n`;

  it('is a Valkey when that stops at the question, and says which', () => {
    expect(ended(1, answer('tell-version "yes"'))).toEqual({ verdict: 'accepted', message: '', version: '9.1.2' });
  });

  it('has said nothing yet while it runs, though its kubelet finds nothing wrong with it', () => {
    expect(view({ running: {} }, true, 'Running', false)).toEqual({ verdict: 'unknown', message: '' });
  });

  it('is refused when that stops at a setting before it', () => {
    expect(ended(1, answer('tell-me-more "yes"'))).toMatchObject({ verdict: 'refused' });
  });

  it.each([
    'exec: "valkey-server": executable file not found in $PATH',
    'exec /usr/local/bin/valkey-server: exec format error',
  ])('is refused when there is nothing in it to start: %s', (message) => {
    expect(ended(128, message, 'StartError')).toEqual({ verdict: 'refused', message });
  });
});
