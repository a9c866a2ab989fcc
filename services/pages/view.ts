import type { z } from 'zod';
import type { Span, Step } from '../../domain/cases/case-course.ts';
import type { RecordType } from '../../domain/publications/words.ts';
import type { activityContract } from '../activity/contract.ts';
import type { artifactsContract } from '../artifacts/contract.ts';
import type { casesContract } from '../cases/contract.ts';
import type { discoveryContract } from '../discovery/contract.ts';
import type { documentsContract } from '../documents/contract.ts';
import type { PublicPolicy } from '../documents/policy-shape.ts';
import type { guestbookContract } from '../guestbook/contract.ts';
import type { NoteStatus } from '../guestbook/outcome.ts';
import type { profilesContract } from '../profiles/contract.ts';
import type { searchContract } from '../search/contract.ts';
import type { transparencyContract } from '../transparency/contract.ts';

/** The entries of the navigation that a page can belong to. */
export type Section = 'guestbook' | 'cases' | 'packets' | 'members' | 'activity' | 'search';

/** A page of the site as data; web/site/ renders it to HTML. */
export interface Page {
  head: Head;
  view: View;
}

/** The operator's words, and what this instance offers. */
export interface SiteInfo {
  name: string;
  /** A line above each page; '' for none. */
  notice: string;
  about: string;
  /** What each guestbook is about. */
  guestbooks: Readonly<Record<Experience, string>>;
  /** Whether members can have passkeys at this address. */
  passkeys: boolean;
}

/** What a page needs to know of the service that it is served by. */
export interface Place {
  baseUrl: string;
  site: SiteInfo;
  /** File name of the style under /assets/styles/. */
  style: string;
  /** File name of the script under /assets/scripts/, for a `LiveView`. */
  script?: string;
  icon: string;
}

export interface Head {
  title: string;
  /** May be text by others of any length; it is cut when it is rendered. */
  description: string;
  /** Path and query of the canonical address. */
  path: string;
  section?: Section;
  /** Excludes the page from search engines. */
  hidden?: true;
  /** The same content for programs. */
  alternates?: readonly Alternate[];
  /** Path of the page's feeds without their suffix, with the query that selects its entries. */
  feed?: string;
  /** Address of the page with older entries. */
  older?: string | undefined;
}

export interface Alternate {
  type: 'application/json' | 'text/csv' | 'text/markdown';
  href: string;
  title: string;
}

/** A member as the site names them: by handle if their profile is public, else by a part of the id. */
export interface Person {
  name: string;
  /** Address of the member's page, if the profile is public. */
  href?: string | undefined;
}

/** The operations that pages read, of which an instance may lack some. */
export type Operations = typeof activityContract &
  typeof artifactsContract &
  typeof casesContract &
  typeof discoveryContract &
  typeof documentsContract &
  typeof guestbookContract &
  typeof profilesContract &
  typeof searchContract &
  typeof transparencyContract;

/** The body that an operation of a contract answers with. */
export type Body<C, Id extends keyof C> = C[Id] extends {
  replies: { 200: { body: infer B extends z.ZodType } };
}
  ? z.output<B>
  : never;

export type MemberLine = Body<Operations, 'agents.list'>['agents'][number];
export type Member = Body<Operations, 'agents.get'>['agent'];
export type CaseRecord = Body<Operations, 'case.read'>;
export type Case = CaseRecord['case'];
/** Times as text, as everywhere in a view. */
type Written<Times> = { [Name in keyof Times]: Times[Name] extends Date ? string : Times[Name] };
/** Who held a case and when; not `complete` where earlier changes are left out. */
export interface CaseCourse {
  spans: (Written<Omit<Span, 'until'>> & { until: string | null })[];
  steps: Written<Step>[];
  complete: boolean;
}
export type PacketLine = Body<Operations, 'artifacts.list'>['artifacts'][number];
export type Artifact = Body<Operations, 'artifacts.get'>['artifact'];
export type ActivityEntry = Body<Operations, 'activity.list'>['entries'][number];
export type Note = Body<Operations, 'guestbook.read'>['entries'][number];
export type Experience = Note['experience'];
/** A search result; `titleMarks` are the hits in its title, as `marks` are those in its excerpt. */
export type Result = Body<Operations, 'search.public'>['results'][number] & {
  titleMarks: readonly number[][];
};

export type TransparencyWeek = Body<Operations, 'transparency.list'>['weeks'][number];

/** Members by id, for the ids that a view mentions. */
export type People = Readonly<Record<string, Person>>;

export type NoteParent = Pick<Note, 'id' | 'name' | 'message'>;

/** When a note was approved (ISO 8601), by which lists are ordered, and its public replies; by id. */
export type Listed = Readonly<Record<string, { approved: string; replies: number }>>;

/** Where the text of a record is in the sealed log; views without it are of records that are not sealed yet. */
export interface SealedPlace {
  /** The number of the leaf. */
  leaf: number;
  /** Address of the proof, as JSON. */
  proof: string;
}

/** A part of the replies to a note, the oldest first, with the addresses of its neighbours. */
export interface RepliesPage {
  replies: readonly Note[];
  earlier?: string | undefined;
  later?: string | undefined;
}

/** A page that a script takes over in the browser, to write, report and sign in. */
export type LiveView =
  | {
      kind: 'guestbook';
      experience: Experience;
      notes: readonly Note[];
      /** What the list shows beside each note, by its id. */
      listed: Listed;
      /** Whether these are the newest notes. */
      newest: boolean;
      older?: string | undefined;
      /** How long moderators usually take, such as 'within 3 hours'; undefined if too few decisions say. */
      usualWait?: string | undefined;
    }
  | ({
      kind: 'thread';
      note: Note;
      sealed: SealedPlace | undefined;
      /** The note that this one replies to. */
      parent: NoteParent | null;
      /** Beside the note and each reply, by id. */
      listed: Listed;
    } & RepliesPage)
  | { kind: 'me' };

export type View =
  | LiveView
  | { kind: 'members'; members: readonly MemberLine[]; older?: string | undefined }
  | {
      kind: 'member';
      member: Member;
      notes: readonly NoteLine[];
      packets: readonly PacketLine[];
      cases: readonly Case[];
    }
  | {
      kind: 'cases';
      state: string | undefined;
      cases: readonly Case[];
      people: People;
      older?: string | undefined;
    }
  | {
      kind: 'case';
      record: CaseRecord;
      course: CaseCourse;
      people: People;
      sealed: SealedPlace | undefined;
    }
  | {
      kind: 'packets';
      of: string | undefined;
      packets: readonly PacketLine[];
      people: People;
      older?: string | undefined;
    }
  | {
      kind: 'packet';
      artifact: Artifact;
      supersededBy: string | null;
      people: People;
      sealed: SealedPlace | undefined;
    }
  | {
      kind: 'activity';
      /** The type of the entries; undefined for all. */
      of: string | undefined;
      entries: readonly ActivityEntry[];
      people: People;
      /** The notes among the subjects, by id. */
      notes: Readonly<Record<string, ActivityNote>>;
      older?: string | undefined;
    }
  | {
      kind: 'search';
      words: string;
      of: string | undefined;
      /** Undefined before anything is searched for. */
      results: readonly Result[] | undefined;
      count: number;
      complete: boolean;
      people: People;
      problem?: string | undefined;
      older?: string | undefined;
    }
  | {
      kind: 'write';
      /** The id of the note, made by the service. */
      id: string;
      experience: Experience;
      parent: NoteParent | null;
      name: string;
      message: string;
      /** Why the note was refused, by field; the key is empty for the whole form. */
      problems: Readonly<Record<string, string>>;
    }
  | { kind: 'sent'; status: NoteStatus; id: string; usualWait: string | undefined }
  | {
      kind: 'report';
      subject: ReportSubject;
      /** The chosen reason; empty before one is chosen. */
      reason: string;
      details: string;
      /** Why the report was refused, by field; the key is empty for the whole form. */
      problems: Readonly<Record<string, string>>;
    }
  | { kind: 'reported' }
  | {
      kind: 'about';
      policy: PublicPolicy;
      contact: string | undefined;
      /** The keys of the sealed log, newest first; empty if it is not sealed. */
      logKeys: readonly string[];
    }
  | {
      kind: 'transparency';
      weeks: readonly TransparencyWeek[];
      /** Address of these weeks as CSV. */
      csv: string;
      older?: string | undefined;
    }
  /** A text of this service; `markdown` is its source. */
  | { kind: 'text'; html: string; markdown: string }
  | { kind: 'error'; status: number; title: string; text: string; requestId: string };

/** What a report is about. */
export interface ReportSubject {
  type: 'note' | RecordType;
  id: string;
  title: string;
  /** Address of its page. */
  href: string | undefined;
}

/** What the activity says of a note: who wrote it, and whether it is a reply. */
export interface ActivityNote {
  name: string;
  byMember: boolean;
  isReply: boolean;
  /** Whether the title of its entry lacks the end of its text. */
  isCut: boolean;
}

/** The views of a kind. */
export type ViewOf<Kind extends View['kind']> = Extract<View, { kind: Kind }>;

export interface NoteLine {
  id: string;
  message: string;
  /** When it was written (ISO 8601). */
  written: string;
  /** Since when it is public (ISO 8601). */
  at: string;
  /** The note that this one replies to, or null. */
  parentId: string | null;
}
