import { SlotSet } from '@valkey-operator/valkey';
import { expect, it } from 'vitest';
import { alignShardIds, returnSlots } from './nodes-conf.ts';

const sound = `me 10.0.0.1:6379@16379,me.example,tls-port=0,nodename=me,shard-id=one myself,master - 0 0 6 connected 4096 [4097-<-other]
replica 10.0.0.2:6379@16379,,tls-port=0,shard-id=two slave other 0 1794760620357 4 connected
other 10.0.0.3:6379@16379,,tls-port=0,shard-id=two master - 0 1794760620490 3 connected 0-4095
vars currentEpoch 6 lastVoteEpoch 0
`;

it('a replica that was written down with another shard id than its primary gets that of its primary', () => {
  expect(alignShardIds(sound.replace('shard-id=two slave', 'shard-id=made-up slave'))).toBe(sound);
});

it.each([sound, '', 'vars currentEpoch 6 lastVoteEpoch 0\n', 'replica 10.0.0.2:6379 slave unknown 0 0 4 connected\n'])(
  'what is sound, or says nothing of shards, stays as it is',
  (text) => {
    expect(alignShardIds(text)).toBe(text);
  },
);

it('slots that are given back go from the line of the node to that of their owner, and all else stays', () => {
  const before = sound
    .replace('connected 4096 [', 'connected 0-9 20 4096 [')
    .replace('connected 0-4095', 'connected 10-19 21-4095');
  expect(returnSlots(before, [{ ownerId: 'other', slots: SlotSet.parse('0-9,20') }])).toBe(sound);
});
