import { command, service } from './append.ts';
import type { Bench } from './environment.ts';
import type { Comparison } from './pair.ts';
import { chains, page, profiles, start } from './updates.ts';

const EVENTS = 200_000;
const AIM = 0.9;

/** Compares the same build on partitioned tables (`npm run release -- --partition`) and on plain ones. */
export const partitions: Bench = {
  name: 'partitions',
  async prepare(setting) {
    const [divided, plain] = [
      await start(setting, EVENTS, 'partitioned'),
      await start(setting, EVENTS, 'migrated'),
    ];
    const beside = (name: string, ours: Comparison['ours'], contender: Comparison['ours']) => ({
      name: `${name}, on partitions`,
      ours,
      floors: [{ name: 'the same on plain tables', aim: AIM, contender }],
    });
    const comparisons: Comparison[] = [
      beside('a page of updates', page(divided), page(plain)),
      beside(
        'POST /api/v1/me/profile',
        profiles(divided.ours, await chains(divided.ours)),
        profiles(plain.ours, await chains(plain.ours)),
      ),
    ];
    for (const width of [1, 8] as const)
      comparisons.push(
        beside(
          `append of one command, ${width} ${width === 1 ? 'connection' : 'connections'}`,
          await service(setting, await setting.database('partitioned'), width, command, true),
          await service(setting, await setting.database('migrated'), width, command, true),
        ),
      );
    return comparisons;
  },
};
