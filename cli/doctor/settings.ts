import {
  findDurabilityFaults,
  findSettingFaults,
} from '../../platform/postgres/database-settings.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, orOk, warn } from './finding.ts';

/** Checks the settings that a release requires, and those on which an acknowledged write relies. */
export async function checkSettings({ client }: Pick<Context, 'client'>): Promise<Finding[]> {
  const faults = [...(await findSettingFaults(client)), ...(await findDurabilityFaults(client))];
  return orOk(
    faults.map(({ fault, command, isMinor }) => (isMinor ? warn : bad)(fault, command)),
    'Writes are durable, and a release accepts the settings',
  );
}
