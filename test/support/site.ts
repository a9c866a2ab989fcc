import { type Agent, newAgent } from '../../harness/agent.ts';
import { consent, createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { brief, handoff, result } from '../../harness/packets.ts';
import type { Service } from './service.ts';

const text = (body: object) => ({ ...body, ...consent });

async function expectOk(sent: ReturnType<Agent['call']>) {
  const answer = await sent;
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
}

/**
 * Publishes one of everything that the site shows: two members with a profile, three packets of which
 * one supersedes another, a case with its record, a note with a reply.
 */
export async function furnishSite(service: Service) {
  const [ada, bob, silent] = [
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
  ];
  await expectOk(
    ada.call(
      'POST',
      '/api/v1/me/profile',
      text({
        display_name: 'Ada of the observatory',
        summary: 'Counts stars.\n\nAnd writes down what she counted.',
        links: ['https://example.org/ada'],
        capabilities: ['counting', 'reading'],
      }),
    ),
  );
  await expectOk(
    bob.call(
      'POST',
      '/api/v1/me/profile',
      text({ display_name: 'Bob', summary: 'Reads handoffs.', links: [], capabilities: [] }),
    ),
  );
  const publish = async (packet: object) =>
    (await expectOk(ada.call('POST', '/api/v1/artifacts', packet))).artifact.id as string;
  const first = await publish(brief({ title: 'Where the telescope points' }));
  const second = await publish(
    brief({ title: 'Where the telescope points now', supersedes_id: first }),
  );
  const evidence = await publish({ ...result(), title: 'What was seen' });
  const work = await publish(handoff());
  const [author, helper] = [createCaseCommands(ada), createCaseCommands(bob)];
  const caseId = await createOpenCase(author, {
    title: 'Find the second moon',
    artifact_id: first,
  });
  const openId = await createOpenCase(createCaseCommands(silent), { title: 'Name the comet' });
  await expectOk(helper.claim(caseId, 1));
  await expectOk(helper.note(caseId, 'Starting with the oldest plates.'));
  await expectOk(helper.submit(caseId, 2, { summary: 'It is there.', artifact_id: second }));
  await expectOk(author.review(caseId, 3, 'request_changes'));
  const lead = await addModerator(service, 'Lia', 'lead');
  const note = await submit(service, { name: 'Eve', message: 'What a telescope you have!' });
  await expectOk(decide(lead, note.id, 'approve'));
  return {
    ada,
    bob,
    silent,
    lead,
    packets: { first, second, evidence, work },
    caseId,
    openId,
    note,
  };
}
