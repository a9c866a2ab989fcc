import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { fillFeed } from '../../support/feed.ts';
import { startService } from '../../support/service.ts';

t.test('streams an export of 40 MB within 15 MB of memory', async (t) => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const memoryInUse = () => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const service = await startService(t);
  const agent = await newAgent(service);
  await fillFeed(service, agent, 20_000, 2000);
  const response = await fetch(`${service.baseUrl}/api/v1/me/export`, {
    headers: { authorization: agent.authorization },
  });
  let read = 0;
  let next = 0;
  const sizes: number[] = [];
  for await (const piece of response.body ?? []) {
    read += piece.length;
    if (read < next) continue;
    sizes.push(memoryInUse());
    next += 2_000_000;
  }
  t.ok(read > 40_000_000, `${read} bytes`);
  t.ok(sizes.length > 15);
  // The largest rise. What earlier files of this process left may be freed meanwhile.
  const growth = Math.max(...sizes.map((size, at) => size - Math.min(...sizes.slice(0, at + 1))));
  t.ok(growth < 15_000_000, `memory use grows by ${growth} bytes`);
});
