import { withConnection } from '../platform/postgres/connection.ts';
import type { Bench } from './environment.ts';
import { openMainRequests } from './main-requests.ts';
import type { Comparison } from './pair.ts';
import { moderatorTokens, serviceOn, startWeb } from './service.ts';

const WIDTHS = [1, 8, 32] as const;
const MODERATORS = 32;

/**
 * Spreads the ages of pending notes over a day, as in a queue that was left for a while: decisions on notes of one age
 * wait for one count of the week.
 */
const SPREAD = `UPDATE notes SET submitted_at = submitted_at - random() * interval '1 day'
  WHERE state = 'pending' AND submitted_at > now() - interval '1 hour'`;

/** Compares commands on existing records with the simplest scoped write, on the same web process. */
export const commands: Bench = {
  name: 'commands',
  async prepare(setting) {
    const url = await setting.database('migrated');
    const service = await serviceOn(setting, url);
    await startWeb(setting, service);
    const tokens = await moderatorTokens(service, MODERATORS);
    const requests = await openMainRequests(setting, service.base, tokens);
    // As autovacuum does eventually: plans made for the empty tables would scan them.
    await withConnection(url, (client) => client.query('VACUUM ANALYZE'));
    const spread = () => withConnection(url, (client) => client.query(SPREAD));
    return WIDTHS.flatMap((width): Comparison[] => {
      const connections = `${width} ${width === 1 ? 'connection' : 'connections'}`;
      const decide = requests.decide(width);
      const profile = {
        name: 'POST /api/v1/me/profile',
        aim: 1,
        contender: requests.profile(width),
      };
      return [
        {
          name: `a claim or a release of a case, ${connections}`,
          ours: requests.claimOrRelease(width),
          floors: [profile],
        },
        {
          name: `a decision on a note, ${connections}`,
          ours: {
            ...decide,
            async prepare(seconds) {
              await decide.prepare(seconds);
              await spread();
            },
          },
          floors: [profile],
        },
      ];
    });
  },
};
