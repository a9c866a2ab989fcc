import { citusVersion, findLayoutFaults } from '../../services/cluster.ts';
import { type Context, engineOf } from './connection.ts';
import { type Finding, ok, orOk, warn } from './finding.ts';

/** The version with which the service was run: docs/operating/distribute.md. */
const TESTED = '13.2';

/** Checks that a cluster has the layout that `npm run release -- --distribute` makes, and confirms its commits. */
export async function checkCluster({
  client,
  ask,
}: Pick<Context, 'client' | 'ask'>): Promise<Finding[]> {
  const { distributed } = await engineOf(ask);
  if (!distributed) return [ok('The log is on one server')];
  const version = (await citusVersion(client)) ?? '';
  const faults = await findLayoutFaults(client);
  return orOk(
    [
      ...faults.map(({ fault, command }) => warn(fault, command)),
      !version.startsWith(`${TESTED}.`) &&
        warn(
          `The service was tried on Citus ${TESTED}, and this is ${version}`,
          'docs/operating/distribute.md',
        ),
    ],
    `The log is distributed with Citus ${version}`,
  );
}
