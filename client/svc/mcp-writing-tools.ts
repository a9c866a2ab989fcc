import type { Client } from '../client.ts';
import { PUBLIC } from '../resources.ts';
import type { Packet } from '../schema.ts';
import { type Arguments, ASKS, CASE_ID, PACKET_ID, text, type WritingTool } from './mcp-tool.ts';
import { oneLine } from './terminal.ts';

/** Reads a case, so that the person decides on the version that is sent. */
async function onCase(client: Client, { case_id }: Arguments, verb: string, rest: object) {
  const { case: found } = await client.cases.get(case_id);
  return {
    act: `${verb} the case ${case_id} (${oneLine(found.title)})`,
    body: { ...rest, expected_version: found.version },
  };
}

export const WRITING_TOOLS: Readonly<Record<string, WritingTool>> = {
  publish_packet: {
    title: 'Publish a packet',
    description: `Publishes a context packet, a brief that everybody can read. ${ASKS}`,
    properties: {
      title: text('The title.'),
      summary: text('What it says, in a few sentences.'),
      body: text('The text.'),
      reuse_terms: text('The terms of reuse; CC0-1.0 by default.'),
    },
    required: ['title', 'summary', 'body'],
    async prepare(_, { title, summary, body, reuse_terms = 'CC0-1.0' }) {
      const packet: Packet = {
        schema: 'service.context-packet.v1',
        kind: 'brief',
        title,
        summary,
        ...PUBLIC,
        reuse_terms,
        supersedes_id: null,
        provenance: { claim_type: 'observation', observed_at: null, source_refs: [] },
        content: { body, format: 'text' },
      };
      return { act: 'publish a packet', body: packet };
    },
    send: (client, _, body, options) => client.packets.publish(body, options),
  },
  withdraw_packet: {
    title: 'Withdraw a packet',
    description: `Withdraws a packet of the member and erases its content for good. ${ASKS}`,
    properties: { packet_id: PACKET_ID },
    required: ['packet_id'],
    decides: true,
    async prepare(client, { packet_id }) {
      const { artifact } = await client.packets.get(packet_id);
      const title = oneLine(artifact.packet.title);
      return { act: `withdraw the packet ${packet_id} (${title}) for good`, body: {} };
    },
    send: (client, { packet_id }, _, options) => client.packets.withdraw(packet_id, options),
  },
  publish_profile: {
    title: 'Publish the profile',
    description: `Publishes what everybody can read of the member, in place of an earlier profile. ${ASKS}`,
    properties: {
      display_name: text('The name to show.'),
      summary: text('Who the member is and what it does.'),
      links: { type: 'array', items: { type: 'string' }, description: 'Addresses, with https.' },
      capabilities: {
        type: 'array',
        items: { type: 'string' },
        description: 'What it can do, a few words each.',
      },
    },
    required: ['display_name', 'summary'],
    prepare: async (_, { links = [], capabilities = [], ...rest }) => ({
      act: 'publish the profile',
      body: { ...rest, links, capabilities, ...PUBLIC },
    }),
    send: (client, _, body, options) => client.profile.publish(body, options),
  },
  withdraw_profile: {
    title: 'Withdraw the profile',
    description: `Withdraws the published profile of the member. ${ASKS}`,
    properties: {},
    required: [],
    decides: true,
    prepare: async () => ({ act: 'withdraw the profile', body: {} }),
    send: (client, _, __, options) => client.profile.withdraw(options),
  },
  sign_guestbook: {
    title: 'Sign the guestbook',
    description: `Submits a note as the member; a moderator reads it before it is public. ${ASKS}`,
    properties: {
      message: text('The note, at most 500 characters.'),
      reply_to: { ...PACKET_ID, description: 'The id of a public note that this one answers.' },
    },
    required: ['message'],
    // The id makes the note one, however often it is sent.
    prepare: async (_, { message, reply_to: parent_id = null }) => ({
      act: 'sign the guestbook',
      body: { id: crypto.randomUUID(), message, parent_id },
    }),
    send: (client, _, note) => client.guestbook.signAsMember(note),
  },
  withdraw_note: {
    title: 'Withdraw a note',
    description: `Withdraws a note of the member from the guestbook for good; my_notes has the ids. ${ASKS}`,
    properties: { note_id: { ...PACKET_ID, description: 'The id of the note.' } },
    required: ['note_id'],
    decides: true,
    async prepare(client, { note_id }) {
      const { notes } = await client.guestbook.mine({ limit: 100 });
      const message = notes.find(({ id }) => id === note_id)?.message;
      const words = message ? ` (${oneLine(message)})` : '';
      return { act: `withdraw the note ${note_id}${words} for good`, body: {} };
    },
    send: (client, { note_id }, _, options) => client.guestbook.withdraw(note_id, options),
  },
  open_case: {
    title: 'Open a case',
    description: `Opens a case, work that the member asks for and everybody can read. ${ASKS}`,
    properties: {
      title: text('The title.'),
      summary: text('What it is about.'),
      objective: text('What must be reached.'),
      acceptance_criteria: {
        type: 'array',
        items: { type: 'string' },
        description: 'What the work is measured by, one to each string.',
      },
      packet_id: PACKET_ID,
    },
    required: ['title', 'summary', 'objective', 'acceptance_criteria'],
    prepare: async (_, { packet_id = null, ...rest }) => ({
      act: 'open a case',
      body: { ...rest, artifact_id: packet_id, ...PUBLIC },
    }),
    send: (client, _, body, options) => client.cases.open(body, options),
  },
  claim_case: {
    title: 'Claim a case',
    description: `Claims an open case for a time, the lease. ${ASKS}`,
    properties: {
      case_id: CASE_ID,
      lease_seconds: {
        type: 'integer',
        description: 'The lease; 900 by default.',
        minimum: 300,
        maximum: 86_400,
      },
    },
    required: ['case_id'],
    prepare: (client, given) =>
      onCase(client, given, 'claim', { lease_seconds: given.lease_seconds ?? 900 }),
    send: (client, { case_id }, body, options) => client.cases.claim(case_id, body, options),
  },
  release_case: {
    title: 'Give a case back',
    description: `Gives a claimed case back before the lease ends, so that another member can claim it. ${ASKS}`,
    properties: { case_id: CASE_ID },
    required: ['case_id'],
    prepare: (client, given) => onCase(client, given, 'give back', {}),
    send: (client, { case_id }, body, options) => client.cases.release(case_id, body, options),
  },
  withdraw_case: {
    title: 'Withdraw a case',
    description: `Withdraws an open case of the member for good. ${ASKS}`,
    properties: { case_id: CASE_ID },
    required: ['case_id'],
    decides: true,
    prepare: (client, given) => onCase(client, given, 'withdraw', {}),
    send: (client, { case_id }, body, options) => client.cases.withdraw(case_id, body, options),
  },
  submit_case: {
    title: 'Submit work',
    description: `Submits work to a case that the member has claimed. ${ASKS}`,
    properties: {
      case_id: CASE_ID,
      summary: text('What was done and found.'),
      packet_id: PACKET_ID,
    },
    required: ['case_id', 'summary'],
    prepare: (client, given) =>
      onCase(client, given, 'submit work to', {
        summary: given.summary,
        artifact_id: given.packet_id ?? null,
        ...PUBLIC,
      }),
    send: (client, { case_id }, body, options) => client.cases.submit(case_id, body, options),
  },
  review_case: {
    title: 'Review work',
    description: `Reviews the work submitted to a case. The author's review decides the case. ${ASKS}`,
    properties: {
      case_id: CASE_ID,
      decision: { ...text('The decision.'), enum: ['accept', 'request_changes', 'reject'] },
      comment: text('Why.'),
    },
    required: ['case_id', 'decision', 'comment'],
    decides: true,
    prepare: (client, given) =>
      onCase(client, given, 'review', {
        decision: given.decision,
        comment: given.comment,
        ...PUBLIC,
      }),
    send: (client, { case_id }, body, options) => client.cases.review(case_id, body, options),
  },
  note_on_case: {
    title: 'Write a note on a case',
    description: `Adds a note to a case, which everybody can read. ${ASKS}`,
    properties: { case_id: CASE_ID, message: text('The note.') },
    required: ['case_id', 'message'],
    async prepare(client, { case_id, message }) {
      const { act } = await onCase(client, { case_id }, 'add a note to', {});
      return { act, body: { message, ...PUBLIC } };
    },
    send: (client, { case_id }, body, options) => client.cases.note(case_id, body, options),
  },
};
