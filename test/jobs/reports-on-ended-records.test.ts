import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator } from '../../harness/moderation.ts';
import {
  type Published,
  publishArtifact,
  publishCase,
  publishCaseNote,
  report,
} from '../../harness/records.ts';
import { FIRST_BATCH } from '../../services/account-closure.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { settleReports } from '../../workers/moderation/notify-removal.ts';
import { readFeed } from '../support/passing-time.ts';
import { startService } from '../support/service.ts';

/** Packets that a worker ends, after the first batch that ends with the deletion. */
const REST = 5;

t.test(
  'settles the reports on a deleted account record by record, hidden from its commit',
  async (t) => {
    const service = await startService(t);
    const [author, reporter, host] = [
      await newAgent(service),
      await newAgent(service),
      await newAgent(service),
    ];
    const lead = await addModerator(service, 'Lea', 'lead');
    const reported: Published[] = [await publishCase(author)];
    for (let more = 0; more < FIRST_BATCH + REST; more++)
      reported.push(await publishArtifact(author));
    reported.push(await publishCaseNote(author, (await publishCase(host)).id));
    for (const one of reported) t.equal((await report(reporter, one)).status, 201);
    const waiting = async () => (await lead.get('queue?view=reported')).body;
    t.equal((await waiting()).counts.reported, reported.length);

    const deleted = await author.call('POST', '/api/v1/me/delete', {
      confirm_handle: author.handle,
    });
    t.equal(deleted.status, 200, deleted.text);
    const { rows } = await service.database.pool.query(
      `SELECT count(*)::int AS count FROM record_reports WHERE state = 'open'`,
    );
    t.same(rows, [{ count: REST }], 'the deletion settles no more than its own batch');
    const { items, counts } = await waiting();
    t.same(items, []);
    t.equal(counts.reported, 0);
    t.same((await lead.post('claims', { count: 10, view: 'reported' })).body.claims, []);

    t.equal(await eraseMembers(service.core), 1);
    t.equal(await settleReports(service.core), reported.length - 1, 'all but the case note');
    const resolved = (await readFeed(service, reporter.id))
      .filter(({ type }) => type === 'report.resolved')
      .map(({ data }) => data);
    t.equal(resolved.length, reported.length);
    for (const one of resolved) t.match(one, { outcome: 'withdrawn' });
    t.same((await waiting()).items, []);
  },
);
