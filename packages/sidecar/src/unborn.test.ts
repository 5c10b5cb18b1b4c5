import { parseClusterNodes } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { aNode } from './testing/cluster-nodes.ts';
import { someFacts } from './testing/valkey-facts.ts';
import { discountStandIns, hideStandIns, isUnborn, listStandIns, renderUnbornTable } from './unborn.ts';

const table = parseClusterNodes(renderUnbornTable('vc-4'));

describe('the table of a node that is yet to be born', () => {
  it('has it follow one stand-in, and another own a slot, so that there is somebody to agree with', () => {
    const [leader, owner] = listStandIns(table);
    expect(table.find(({ myself }) => myself)).toMatchObject({ role: 'replica', primaryId: leader?.id });
    expect(leader?.slots.isEmpty).toBe(true);
    expect(owner?.slots.count).toBe(1);
    expect(isUnborn(table)).toBe(true);
  });

  it('names nobody that Valkey would tell other nodes of', () => {
    expect(listStandIns(table).every(({ noAddress, handshake }) => noAddress || handshake)).toBe(true);
  });

  it('gives each pod another epoch to begin with, and each node another id', () => {
    expect(renderUnbornTable('vc-4')).toContain('vars currentEpoch 4 ');
    expect(renderUnbornTable('vc-4')).not.toBe(renderUnbornTable('vc-4'));
  });

  it('shows a primary without slots that knows nobody', () => {
    const shown = hideStandIns(table);
    expect(shown).toMatchObject([{ myself: true, role: 'primary', primaryId: undefined }]);
    expect(shown[0]?.slots.isEmpty).toBe(true);
    expect(isUnborn(shown)).toBe(false);
  });
});

describe('a node that is born', () => {
  it('is one that follows a node that exists, or nobody', () => {
    expect(isUnborn([aNode('me', { myself: true, primaryId: 'other' }), aNode('other')])).toBe(false);
    expect(isUnborn([aNode('me', { myself: true, slots: '0-99' }), ...listStandIns(table)])).toBe(false);
  });

  it('is not well as long as a stand-in owns slots', () => {
    const { info } = someFacts().cluster!;
    const remaining = [aNode('stand-in', { slots: '0' })];
    expect(discountStandIns(info, remaining)).toMatchObject({ state: 'fail', slotsAssigned: 16_383, slotsOk: 16_383 });
    expect(discountStandIns(info, [aNode('stand-in')])).toBe(info);
  });
});
