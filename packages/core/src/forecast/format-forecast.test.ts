import { describe, expect, it } from 'vitest';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { SimulationOptions } from '../simulation/simulation-options.ts';
import { bear } from '../testing/settle.ts';
import { forecast } from './forecast.ts';
import { formatForecast } from './format-forecast.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const kept = { spec: { pvc: { storageSize: '1Gi' } } };

function read(change: (cluster: SimulatedCluster) => void, options: SimulationOptions = kept): string {
  const cluster = bear(options);
  change(cluster);
  return formatForecast(forecast(cluster.snapshot()));
}

describe('a plan reads well', () => {
  it('of more replicas', () => {
    expect(read((cluster) => cluster.change({ replicasPerMaster: 2 }))).toMatchInlineSnapshot(`
      "ScaleReplicas
        1. Add pods demo-6, demo-7, demo-8
        2. demo-8 becomes a replica of demo-0
        3. demo-6 becomes a replica of demo-1
        4. demo-7 becomes a replica of demo-2
      Pods touched: 3 (demo-6, demo-7, demo-8)
      Failovers:    0
      Disruptive:   no"
    `);
  });

  it('of fewer replicas', () => {
    const options = { replicas: 2, spec: { pvc: { storageSize: '1Gi' }, deletionPolicy: 'Delete' } } as const;
    expect(read((cluster) => cluster.change({ replicasPerMaster: 1 }), options)).toMatchInlineSnapshot(`
      "ScaleReplicas
        1. demo-1 becomes a replica of demo-8
        2. demo-1 takes over from demo-8
        3. demo-3 becomes a replica of demo-1
        4. Remove pods demo-6, demo-7, demo-8
        5. Delete volume data-demo-6
        6. Delete volume data-demo-7
        7. Delete volume data-demo-8
      Pods touched: 3 (demo-6, demo-7, demo-8)
      Failovers:    1
      Disruptive:   yes"
    `);
  });

  it('of an upgrade', () => {
    const options = { spec: { ...kept.spec, valkeyImage: image('8.1') } };
    expect(read((cluster) => cluster.change({ valkeyImage: image('9.1') }), options)).toMatchInlineSnapshot(`
      "Upgrade
         1. Start a Valkey without data with the new image
         2. From now on pods are made of the new template
         3. Replace pod demo-4
         4. demo-4 takes over from demo-0
         5. Replace pod demo-0
         6. Replace pod demo-5
         7. demo-5 takes over from demo-1
         8. Replace pod demo-1
         9. Replace pod demo-3
        10. demo-3 takes over from demo-2
        11. Replace pod demo-2
      Pods touched: 6 (demo-0, demo-1, demo-2, demo-3, demo-4, demo-5)
      Failovers:    3
      Disruptive:   yes"
    `);
  });

  it('of an upgrade that is refused', () => {
    expect(read((cluster) => cluster.change({ valkeyImage: image('8.0') }))).toMatchInlineSnapshot(`
      "Nothing is done.
      Pods touched: 0
      Failovers:    0
      Disruptive:   no
      Blocked by:   spec.valkeyImage.tag is "8.0", which cannot read the data files of 9.1.2 that runs. To go back all the same, with data copied from primary to replica, set spec.allowDowngrade. The cluster keeps its image."
    `);
  });

  it('of a restart of pods that keep their data themselves', () => {
    const restart = (cluster: SimulatedCluster) => {
      cluster.annotate('restartAt', new Date(cluster.now).toISOString());
      cluster.now += 1000;
    };
    expect(read(restart, {})).toMatchInlineSnapshot(`
      "Restart
         1. Replace pod demo-4
         2. demo-4 becomes a replica of demo-0
         3. demo-4 takes over from demo-0
         4. Replace pod demo-0
         5. demo-0 becomes a replica of demo-4
         6. Replace pod demo-5
         7. demo-5 becomes a replica of demo-1
         8. demo-5 takes over from demo-1
         9. Replace pod demo-1
        10. demo-1 becomes a replica of demo-5
        11. Replace pod demo-3
        12. demo-3 becomes a replica of demo-2
        13. demo-3 takes over from demo-2
        14. Replace pod demo-2
        15. demo-2 becomes a replica of demo-3
      Pods touched: 6 (demo-0, demo-1, demo-2, demo-3, demo-4, demo-5)
      Failovers:    3
      Disruptive:   yes"
    `);
  });

  it('of a setting', () => {
    expect(read((cluster) => cluster.change({ config: { hz: '20' } }))).toMatchInlineSnapshot(`
      "Reconfigure
        1. Set hz default -> 20 on every node
        2. Keep these settings for the next start of every node
      Pods touched: 0
      Failovers:    0
      Disruptive:   no"
    `);
  });

  it('of a setting that takes a restart', () => {
    expect(read((cluster) => cluster.change({ config: { databases: '32' } }))).toMatchInlineSnapshot(`
      "Reconfigure
         1. Start a Valkey without data with the settings that only a start reads
         2. Set databases default -> 32 on every node
         3. Keep these settings for the next start of every node
         4. Replace pod demo-4
         5. demo-4 takes over from demo-0
         6. Replace pod demo-0
         7. Replace pod demo-5
         8. demo-5 takes over from demo-1
         9. Replace pod demo-1
        10. Replace pod demo-3
        11. demo-3 takes over from demo-2
        12. Replace pod demo-2
      Pods touched: 6 (demo-0, demo-1, demo-2, demo-3, demo-4, demo-5)
      Failovers:    3
      Disruptive:   yes"
    `);
  });

  it('of other resources', () => {
    const resources = { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } };
    expect(read((cluster) => cluster.change({ resources }))).toMatchInlineSnapshot(`
      "Reconfigure
        1. From now on pods are made of the new template
        2. Pod demo-4 gets its new resources while it runs
        3. Pod demo-0 gets its new resources while it runs
        4. Pod demo-1 gets its new resources while it runs
        5. Pod demo-2 gets its new resources while it runs
        6. Pod demo-3 gets its new resources while it runs
        7. Pod demo-5 gets its new resources while it runs
        8. Set maxmemory 402653184 -> 805306368 on every node
        9. Keep these settings for the next start of every node
      Pods touched: 6 (demo-0, demo-1, demo-2, demo-3, demo-4, demo-5)
      Failovers:    0
      Disruptive:   no"
    `);
  });

  it('of larger volumes', () => {
    expect(read((cluster) => cluster.change({ pvc: { storageSize: '2Gi' } }))).toMatchInlineSnapshot(`
      "GrowVolumes
        1. Volume data-demo-0 grows to 2Gi
        2. Volume data-demo-1 grows to 2Gi
        3. Volume data-demo-2 grows to 2Gi
        4. Volume data-demo-3 grows to 2Gi
        5. Volume data-demo-4 grows to 2Gi
        6. Volume data-demo-5 grows to 2Gi
      Pods touched: 0
      Failovers:    0
      Disruptive:   no"
    `);
  });
});
