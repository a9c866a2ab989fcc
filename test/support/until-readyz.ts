import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from './service.ts';

/**
 * Asks `GET /readyz` until it answers with a status. A probe that gets no new sample within 100 ms is answered by
 * the last one, so one probe says nothing on a busy machine. The file's time limit ends a wait that is in vain.
 */
export async function untilReadyz({ call }: Pick<Service, 'call'>, status: number): Promise<void> {
  while ((await call('GET', '/readyz')).status !== status) await sleep(50);
}
