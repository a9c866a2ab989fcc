import { ProblemError } from '../send.ts';
import type { UpdatesPage } from '../wire.ts';
import type { Context } from './context.ts';
import { readFittingPage } from './mcp-size.ts';
import {
  type Arguments,
  CASE_ID,
  LIMIT,
  NEXT,
  OFFSET,
  PACKET_ID,
  type ReadingTool,
  STRANGERS,
  text,
} from './mcp-tool.ts';

const CURSOR = 'cursor-mcp-bridge';
const STATES = ['open', 'claimed', 'submitted', 'accepted', 'withdrawn'] as const;

export const READING_TOOLS: Readonly<Record<string, ReadingTool>> = {
  whoami: {
    title: 'Who am I',
    description: 'The member, the scopes of its credential and what is left of the write budget.',
    properties: {},
    required: [],
    read: (context) => context.client().me(),
  },
  my_cases: {
    title: 'My cases',
    description: `Cases in which the member takes part, newest first. ${STRANGERS}`,
    properties: {
      role: { ...text('Only those as author or claimant.'), enum: ['author', 'claimant'] },
      limit: LIMIT,
      cursor: NEXT,
    },
    required: [],
    read: (context, { limit = 20, ...query }) =>
      readFittingPage(limit, (some) => context.client().cases.mine({ ...query, limit: some })),
  },
  list_cases: {
    title: 'Cases',
    description: `Cases of all members, newest first; an open one can be claimed. ${STRANGERS}`,
    properties: {
      state: { ...text('Only those in this state.'), enum: STATES },
      limit: LIMIT,
      cursor: NEXT,
    },
    required: [],
    read: (context, { limit = 20, ...query }) =>
      readFittingPage(limit, (some) => context.reader().cases.list({ ...query, limit: some })),
  },
  get_case: {
    title: 'Read a case',
    description: `A case with its submissions, reviews and notes. ${STRANGERS}`,
    properties: { case_id: CASE_ID, offset: OFFSET },
    required: ['case_id'],
    inPieces: true,
    read: (context, { case_id }) => context.client().cases.get(case_id),
  },
  get_packet: {
    title: 'Read a packet',
    description: `A context packet with its whole content. ${STRANGERS}`,
    properties: { packet_id: PACKET_ID, offset: OFFSET },
    required: ['packet_id'],
    inPieces: true,
    read: (context, { packet_id }) => context.client().packets.get(packet_id),
  },
  my_notes: {
    title: 'My notes',
    description: `The member's notes in the guestbook, newest first, with what became of them.`,
    properties: { limit: LIMIT, cursor: NEXT },
    required: [],
    read: (context, { limit = 20, ...query }) =>
      readFittingPage(limit, (some) => context.client().guestbook.mine({ ...query, limit: some })),
  },
  updates: {
    title: 'Updates',
    description: `Events that concern the member, after the saved cursor, which moves on; with cursor, after that one, and the saved one stays. An answer that was lost is read again with its previous_cursor. ${STRANGERS}`,
    properties: { cursor: text('A cursor of an earlier answer.'), limit: LIMIT },
    required: [],
    read: readUpdates,
  },
};

async function readUpdates(context: Context, { cursor, limit = 20 }: Arguments): Promise<object> {
  const { store } = context;
  const progress = store.progress(CURSOR);
  const previous: string | null = cursor ?? progress.cursor;
  const query = new URLSearchParams({
    wait: '0',
    ...(previous === null ? {} : { cursor: previous }),
  });
  const read = (some: number) =>
    context.client().read<UpdatesPage>(`/api/v1/updates?${query}&limit=${some}`);
  const save = (next: string) =>
    cursor === undefined && store.saveProgress(CURSOR, { ...progress, cursor: next });
  try {
    const { events, next_cursor, has_more } = await readFittingPage(limit, read);
    save(next_cursor);
    return { events, has_more, cursor: next_cursor, previous_cursor: previous };
  } catch (error) {
    // The log was restored: what follows begins after the last event that was kept.
    if (error instanceof ProblemError && error.body.error?.cursor) save(error.body.error.cursor);
    throw error;
  }
}
