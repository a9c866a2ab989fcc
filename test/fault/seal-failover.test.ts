import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { beginEpochOfLog } from '../../cli/backup/begin-epoch.ts';
import { submit } from '../../harness/moderation.ts';
import { promote, type Server, severalHosts } from '../../harness/standby.ts';
import { continueEpoch } from '../../platform/eventstore/log-epochs.ts';
import { logWitnesses } from '../../platform/log-settings.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { parseVerifier, signingKey, verifierText } from '../../platform/tlog/note.ts';
import { sealCommitted } from '../../services/seal/seal-log.ts';
import { publishCheckpoint } from '../../services/seal/witnesses.ts';
import { startServers } from '../support/failing-over.ts';
import { sealNow } from '../support/sealed.ts';
import { startService } from '../support/service.ts';
import { untilReadyz } from '../support/until-readyz.ts';
import { startWitness } from '../support/witness.ts';

t.test(
  'a promoted standby that lacks the last seals is not signed as if nothing was lost',
  async (t) => {
    const { primary, standby, stopPrimary } = await startServers(t);
    const seed = randomBytes(32);
    const settings = {
      DATABASE_URL: severalHosts([standby, primary]),
      SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
      SEAL_KEY: seed.toString('hex'),
    };
    const { call, core, baseUrl } = await startService(t, settings);
    const origin = `${new URL(baseUrl).host}/log/1`;
    const witness = await startWitness(t, 'witness.example/one', () => {
      const key = parseVerifier(verifierText(origin, signingKey(seed)));
      if (!key) throw new Error('no key');
      return key;
    });
    const config = { ...core.config, logWitnesses: logWitnesses(witness.setting) };
    const witnessed = { pool: core.pool, config };
    const trees = ({ url }: Server) =>
      withConnection(url, async (client) => {
        const { rows } = await client.query(
          'SELECT epoch::text, size::int, checkpoint, previous, refusal FROM seal_trees ORDER BY epoch',
        );
        return rows as {
          epoch: string;
          size: number;
          checkpoint: string;
          previous: string | null;
        }[];
      });

    await submit({ call } as never);
    while ((await sealNow(core)).sealed === 0) await sleep(50);
    const [before] = await trees(primary);
    while ((await trees(standby))[0]?.checkpoint !== before?.checkpoint) await sleep(50);
    await withConnection(standby.url, async (client) => {
      await client.query("ALTER SYSTEM SET primary_conninfo = ''");
      await client.query('SELECT pg_reload_conf()');
      while ((await client.query('SELECT FROM pg_stat_wal_receiver')).rowCount) await sleep(20);
    });
    await submit({ call } as never);
    while ((await sealNow(core)).sealed === 0) await sleep(50);
    t.same(await publishCheckpoint(witnessed), { failures: {} });
    const [last] = await trees(primary);
    t.equal(last?.size, (before?.size ?? 0) + 1);

    await stopPrimary();
    await promote(standby);
    await untilReadyz({ call }, 503);
    while (!core.logWatch.isLost()) {
      await call('GET', '/readyz');
      await sleep(50);
    }
    t.same(await sealCommitted(core), { sealed: 0 }, 'a process that knows of the loss');
    t.same(await trees(standby), [before], 'the tree is as the standby has it');

    // The operator says that nothing was lost, although it was.
    await withConnection(standby.url, continueEpoch);
    t.ok(core.logWatch.isLost(), 'such a process does not go on');
    const unaware = { ...core, logWatch: { isLost: () => false } };
    t.match(await sealNow(unaware), { sealed: 0, alert: /fewer than the \d+ signed before/ });
    t.match(await trees(standby), [{ size: before?.size, refusal: /fewer than/ }]);
    const { failures } = await publishCheckpoint(witnessed);
    t.match(failures, { 'witness.example/one': `has_signed_${last?.size}_events` });

    await withConnection(standby.url, async (client) => {
      await client.query('BEGIN');
      await beginEpochOfLog(client, 'failover');
      await client.query('COMMIT');
    });
    while ((await trees(standby)).length < 2) {
      await sealNow(unaware);
      await sleep(50);
    }
    const [, begun] = await trees(standby);
    t.match(begun, {
      epoch: /^[2-9]|\d\d/,
      refusal: null,
      previous: new RegExp(`^previous ${origin} ${before?.size} `),
    });
    t.notOk(begun?.checkpoint.startsWith(`${origin}\n`), 'under another origin');
    t.match(begun?.checkpoint, /^\S+\/log\/\d+\n/);
  },
);
