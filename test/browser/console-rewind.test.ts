import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, decide, type Moderator, submit } from '../../harness/moderation.ts';
import { publishArtifact } from '../../harness/records.ts';
import { checkAppearance, NEEDS_BROWSER, untilEqual } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { type Service, startService } from '../support/service.ts';

const stateOf = async (by: Moderator, id: string) => (await by.get(`notes/${id}`)).body.item.state;

/** What a moderator did wrong: an approval, a rejection, and the removals of a note and a record. */
async function rogueAfternoon(service: Service, rob: Moderator, ann: Moderator) {
  const [approved, rejected, removed] = [
    await submit(service, { message: 'Cheap watches' }),
    await submit(service, { message: 'A kind word' }),
    await submit(service, { message: 'A public word' }),
  ].map(({ id }) => id) as [string, string, string];
  await decide(ann, removed, 'approve');
  await decide(rob, approved, 'approve');
  await decide(rob, rejected, 'reject');
  const removal = { action: 'remove', policy: 'spam' };
  await rob.post(`notes/${removed}/decisions`, { ...removal, expected_version: 2 });
  const packet = await publishArtifact(
    await newAgent(service, ['artifact:publish', 'updates:read']),
  );
  await rob.post(`subjects/artifact/${packet.id}/decisions`, { ...removal, expected_version: 1 });
  return { approved, rejected, removed, packet };
}

t.test(
  'undoes the afternoon of a moderator; another lead decides what becomes public',
  NEEDS_BROWSER,
  async (t) => {
    const service = await startService(t);
    const [rob, ann] = [await addModerator(service, 'Rob'), await addModerator(service, 'Ann')];
    const [lea, lou] = [
      await addModerator(service, 'Lea', 'lead'),
      await addModerator(service, 'Lou', 'lead'),
    ];
    const { approved, rejected, removed, packet } = await rogueAfternoon(service, rob, ann);

    const { page } = await openConsole(t, service, lea);
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('link', { name: 'Rob' }).first().click();
    await page.getByRole('button', { name: 'Rewind…' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Since').waitFor();
    await checkAppearance(t, page, 'moderation-rewind-since');
    await dialog.getByLabel('Since').focus();
    await page.keyboard.press('Enter');
    await dialog.getByText('2 decisions to undo, 2 decisions to leave.').waitFor();
    const left = dialog.getByRole('list', { name: 'To leave' }).getByRole('listitem');
    t.match(await left.allInnerTexts(), [
      /^Removed artifact .* another lead/,
      /^Removed note .* another lead/,
    ]);
    await checkAppearance(t, page, 'moderation-rewind-preview');
    t.equal(await stateOf(lea, approved), 'approved', 'a preview changes nothing');

    await dialog.getByRole('button', { name: 'Undo 2 decisions' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByRole('heading', { name: 'Undone: 2 decisions of Rob' }).waitFor();
    await checkAppearance(t, page, 'moderation-rewind-result');
    for (const id of [approved, rejected]) t.equal(await stateOf(lea, id), 'pending');
    t.equal(await stateOf(lea, removed), 'removed', 'no removal is undone');
    t.equal((await service.call('GET', packet.path)).status, 410);

    await dialog.getByRole('button', { name: 'Hand them to another lead' }).click();
    await dialog.getByText('All moderators see these removals under Saved').waitFor();
    const { page: second } = await openConsole(t, service, lou);
    const handed = second.getByRole('link', { name: /^Removed by Rob\s*2 found/ });
    await handed.click();
    await untilEqual(t, () => second.locator('.row').count(), 2);
    await second.locator('.row').filter({ hasText: 'A public word' }).click();
    await second.locator('.note .text', { hasText: 'A public word' }).waitFor();
    await second.getByRole('button', { name: /^Restore/ }).click();
    await untilEqual(t, () => stateOf(lou, removed), 'approved');

    await dialog.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('1 note could not be undone').first().waitFor();
    t.equal(await stateOf(lea, rejected), 'rejected');
    t.equal(await stateOf(lea, approved), 'pending', 'the undo makes nothing public either');
  },
);

t.test('offers no rewind to others than leads, or of oneself', NEEDS_BROWSER, async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  for (const one of [ann, lea]) await decide(one, (await submit(service)).id, 'approve');
  for (const [me, name] of [
    [ann, 'Lea'],
    [lea, 'Lea'],
  ] as const) {
    const { page } = await openConsole(t, service, me);
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('link', { name }).first().click();
    await page.locator('.audit tbody tr').filter({ hasText: 'approved' }).first().waitFor();
    t.equal(await page.getByRole('button', { name: 'Rewind…' }).count(), 0);
  }
});
