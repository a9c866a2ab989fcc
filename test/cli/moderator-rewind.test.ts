import t from 'tap';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { clientEnv, operatorEnv, runModeratorCommand } from '../support/moderator-command.ts';
import { startService } from '../support/service.ts';

const since = new Date(Date.now() - 3_600_000).toISOString();

t.test(
  'previews what a moderator decided, undoes it when asked, and takes that back',
  async (t) => {
    const service = await startService(t);
    const rob = await addModerator(service, 'Rob');
    const lea = await addModerator(service, 'Lea', 'lead');
    const [approved, rejected, removed] = [
      await submit(service),
      await submit(service),
      await submit(service),
    ];
    await decide(rob, approved.id, 'approve');
    await decide(rob, rejected.id, 'reject');
    await decide(rob, removed.id, 'approve');
    await rob.post(`notes/${removed.id}/decisions`, {
      action: 'remove',
      policy: 'spam',
      expected_version: 2,
    });
    const run = (...args: string[]) => runModeratorCommand(clientEnv(service, lea.token), args);
    const stateOf = async (id: string) => (await lea.get(`notes/${id}`)).body.item.state;

    const preview = await run('rewind', 'Rob', '--since', since);
    t.equal(preview.code, 0, preview.stderr);
    t.match(
      preview.stdout,
      `To undo: 2\n  reject  note ${rejected.id}\n  approve  note ${approved.id}\n`,
    );
    t.match(
      preview.stdout,
      `To leave: 2\n  remove  note ${removed.id}  (second_person_required)\n`,
    );
    t.match(preview.stdout, /^Nothing is undone yet: add --yes\.$/m);
    t.equal(await stateOf(approved.id), 'approved');

    const undone = await run('rewind', rob.id, '--since', since, '--yes');
    t.equal(undone.code, 0, undone.stderr);
    t.match(
      undone.stdout,
      `Undone: 2\n  reject  note ${rejected.id}\n  approve  note ${approved.id}\nLeft: 2\n`,
    );
    t.equal(await stateOf(approved.id), 'pending');
    t.equal(await stateOf(removed.id), 'removed');
    t.match(await run('rewind', 'Rob', '--since', since, '--yes'), {
      code: 0,
      stdout: /^To undo: 0\n[\s\S]*^There is nothing to undo\.$/m,
    });

    const batchId = /undo-batch (\S+)/.exec(undone.stdout)?.[1] ?? '';
    const back = await run('undo-batch', batchId);
    t.equal(back.code, 0, back.stderr);
    t.match(back.stdout, `note ${approved.id}  (second_person_required)\n`);
    t.match(back.stdout, `decided  note ${rejected.id}\n`);
    t.equal(await stateOf(rejected.id), 'rejected');
  },
);

t.test(
  'refuses a rewind by others than leads, of unknown moderators and without a time',
  async (t) => {
    const service = await startService(t);
    const rob = await addModerator(service, 'Rob');
    const lea = await addModerator(service, 'Lea', 'lead');
    await decide(rob, (await submit(service)).id, 'approve');
    await runModeratorCommand(operatorEnv(service), ['revoke', 'Rob']);
    const namesake = await addModerator(service, 'Rob');
    await decide(namesake, (await submit(service)).id, 'approve');
    const run = (token: string, ...args: string[]) =>
      runModeratorCommand(clientEnv(service, token), ['rewind', ...args]);
    t.match(await run(namesake.token, lea.id, '--since', since), {
      code: 1,
      stderr: /^role_required: /,
    });
    t.match(await run(lea.token, 'Bob\u001b[2J', '--since', since), {
      code: 1,
      stderr: 'No moderator called Bob␛[2J has decided since then.\n',
    });
    t.match(await run(lea.token, 'Rob', '--since', since), {
      code: 1,
      stderr: /^Give an id, because several are called Rob: [-0-9a-f]{36}, [-0-9a-f]{36}\n$/,
    });
    for (const args of [['Rob'], ['Rob', '--since', 'yesterday'], ['Rob', '--since', '2026-01-31']])
      t.match(await run(lea.token, ...args), {
        code: 2,
        stderr: /^--since needs a time with its zone, such as /,
      });
    t.equal((await service.call('GET', '/api/guestbook')).body.entries.length, 2);
  },
);
