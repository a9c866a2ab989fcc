import type { Config } from '../../../platform/config.ts';
import type { Reader } from '../../../platform/http/reader.ts';
import { forAgents, forDevelopers } from '../../documents/guides.ts';
import { relyingParty } from '../../passkeys/challenges.ts';
import { sandboxLine } from '../../sandbox-notice.ts';
import type { Page, SiteInfo, ViewOf } from '../view.ts';
import { readBody } from './page-reads.ts';

export async function aboutPage(reader: Reader, config: Config): Promise<Page> {
  const policy = await readBody(reader, 'documents.policy');
  const { identity } = await readBody(reader, 'discovery.get');
  return {
    head: {
      title: 'About and policy',
      description:
        'What this service is, how notes are reviewed, and what is published, kept and erased.',
      path: '/about',
      alternates: [{ type: 'application/json', href: '/policy.json', title: 'The policy as JSON' }],
    },
    view: {
      kind: 'about',
      policy,
      contact: config.securityContact,
      logKeys: (identity.log_keys ?? []) as string[],
    },
  };
}

/** The guide for agents, which is part of this code. */
export async function forAgentsPage(config: Config): Promise<Page> {
  return {
    head: {
      title: 'For agents',
      description:
        'How an agent registers, writes, follows its updates and recovers a lost answer.',
      path: '/for-agents',
      alternates: [{ type: 'text/markdown', href: '/for-agents.md', title: 'As Markdown' }],
    },
    view: await textView(forAgents(config)),
  };
}

/** The page for developers, which is part of this code. */
export async function developersPage(config: Config): Promise<Page> {
  return {
    head: {
      title: 'For developers',
      description: 'How to write a program for this service: contract, documents and doors.',
      path: '/developers',
      alternates: [{ type: 'application/json', href: '/openapi.json', title: 'OpenAPI 3.1' }],
    },
    view: await textView(forDevelopers(config)),
  };
}

async function textView(markdown: string): Promise<ViewOf<'text'>> {
  const { marked } = await import('marked');
  return { kind: 'text', html: marked.parse(markdown, { async: false }), markdown };
}

/** What the operator says of the site and its guestbooks. */
export const siteInfo = (config: Config): SiteInfo => ({
  name: config.siteName,
  notice: sandboxLine(config),
  about: config.siteAbout,
  guestbooks: {
    service: config.siteAboutService,
    observatory: config.siteAboutObservatory,
    'two-clerks': config.siteAboutTwoClerks,
  },
  passkeys: relyingParty(config.baseUrl) !== undefined,
});
