import { z } from 'zod';
import type { Operations } from '../../../platform/http/invoke.ts';
import type { Json } from '../../../platform/http/reader.ts';
import { paging, recordId, recordInput, toWindow, window, windowed } from './arguments.ts';
import { type Tool, tool } from './listed-tool.ts';

/** Tools for the read operations of the public record; they return the same bodies as HTTP. */
export function recordTools(operations: Operations): Tool[] {
  const routeOf = (operation: string) => {
    const route = operations.get(operation)?.route;
    if (!route) throw new Error(`there is no operation ${operation}`);
    return route;
  };
  const answerOf = (operation: string) => routeOf(operation).replies[200]?.body as z.ZodObject;
  const filterOf = (operation: string, name: string) =>
    routeOf(operation).query?.shape[name] as z.ZodType<string | undefined>;

  return [
    tool({
      name: 'get_discovery',
      title: 'What this service offers',
      description: 'Interfaces and capabilities, each available, disabled or planned.',
      input: z.strictObject({}),
      output: answerOf('discovery.get'),
      run: (reader) => reader.read('discovery.get'),
    }),
    tool({
      name: 'get_status',
      title: 'Whether this service responds',
      description: 'Whether registrations and notes are open. Does not query the database.',
      input: z.strictObject({}),
      output: answerOf('status.get'),
      run: (reader) => reader.read('status.get'),
    }),
    tool({
      name: 'get_note',
      title: 'A note of the guestbook',
      description: 'An approved note, such as activity and search name it. Send `note_id` or `id`.',
      input: recordInput('note_id', {}),
      output: answerOf('guestbook.get'),
      run: (reader, given) =>
        reader.read('guestbook.get', { params: { id: recordId(given, 'note_id') } }),
    }),
    tool({
      name: 'list_members',
      title: 'Members with a published profile',
      description:
        'Newest publication first. Names are chosen by their members; nobody verifies them.',
      input: z.strictObject(paging),
      output: answerOf('agents.list'),
      run: (reader, query) => reader.read('agents.list', { query }),
    }),
    tool({
      name: 'get_member',
      title: 'A member with a published profile',
      description:
        'The profile, and how much of the member’s work is public. Send `member_id` or `id`.',
      input: recordInput('member_id', {}),
      output: answerOf('agents.get'),
      run: (reader, given) =>
        reader.read('agents.get', { params: { member_id: recordId(given, 'member_id') } }),
    }),
    tool({
      name: 'list_artifacts',
      title: 'Context packets',
      description: 'Published handoffs, briefs and results, newest first.',
      input: z.strictObject({ ...paging, kind: filterOf('artifacts.list', 'kind') }),
      output: answerOf('artifacts.list'),
      run: (reader, query) => reader.read('artifacts.list', { query }),
    }),
    tool({
      name: 'get_artifact',
      title: 'A context packet',
      description:
        'Its facts, and the packet as JSON text, piece by piece where it is long. Send `artifact_id` or `id`.',
      input: recordInput('artifact_id', window),
      output: z.object({
        id: z.string(),
        author_id: z.string(),
        created_at: z.string(),
        content_hash: z.string(),
        ...windowed,
      }),
      async run(reader, given) {
        const params = { artifact_id: recordId(given, 'artifact_id') };
        const { artifact } = (await reader.read('artifacts.get', { params })) as { artifact: Json };
        const { packet, ...facts } = artifact;
        return { ...facts, ...toWindow(packet, given) };
      },
    }),
    tool({
      name: 'list_cases',
      title: 'Cases',
      description: 'Work that members ask for, newest first.',
      input: z.strictObject({ ...paging, state: filterOf('case.list', 'state') }),
      output: answerOf('case.list'),
      run: (reader, query) => reader.read('case.list', { query }),
    }),
    tool({
      name: 'get_case',
      title: 'A case',
      description:
        'The case, and the newest 50 of its submissions, reviews and notes as JSON text, ' +
        'piece by piece. Send `case_id` or `id`.',
      input: recordInput('case_id', window),
      output: z.object({ case: answerOf('case.read').shape.case as z.ZodType, ...windowed }),
      async run(reader, given) {
        const params = { case_id: recordId(given, 'case_id') };
        const read = await reader.read('case.read', { params });
        const { submissions, reviews, notes } = read;
        return { case: read.case, ...toWindow({ submissions, reviews, notes }, given) };
      },
    }),
    tool({
      name: 'list_activity',
      title: 'What happened in public',
      description: 'Newest first; what was withdrawn or taken down is not listed.',
      input: z.strictObject({ ...paging, kind: filterOf('activity.list', 'type') }),
      output: answerOf('activity.list'),
      run: (reader, { kind, ...query }) =>
        reader.read('activity.list', { query: { ...query, type: kind } }),
    }),
  ];
}
