import { chart } from "./chart";
import { leases, use } from "./leases";
import { feeds, notices } from "./notices";
import { operators } from "./operators";
import { draft, refusal } from "./reserve";
import { fields, search } from "./search";

/** All texts of the page in English. Another language is a folder with the same keys. */
export const en = {
  locale: "en-GB",
  title: "Blazar",
  cancel: "Cancel",
  loading: "Loading …",
  any: "any",
  choose: "Choose …",
  copy: "Copy",
  copied: "Copied",

  time: {
    now: "now",
    seconds: (count: number) => `${count} s`,
    minutes: (count: number) => `${count} min`,
    hours: (count: number) => `${count} h`,
    days: (count: number) => `${count} d`,
    /** Suggestions for a field with a time; all of them are understood. */
    starts: ["now", "tomorrow", "Monday", "in 2 h"],
    ends: ["today", "tomorrow", "Friday", "Sunday", "in 7 days", "in 30 days"],
    durations: ["1 h", "4 h", "8 h", "1 d", "3 d", "7 d"],
  },

  errors: {
    status: (status: number) => `The service refused the request with status ${status}.`,
    noConnection: "The service does not answer.",
    unanswered: "No answer arrived. Check whether the change took effect before you repeat it.",
    retryIn: (seconds: number) => (seconds > 0 ? `Next try in ${seconds} s.` : "Trying again …"),
    retryNow: "Try now",
    kept: "Nothing that you entered is lost.",
  },

  page: {
    reserve: "Reserve",
    leases: "Leases",
    notices: "Calendars and notices",
    operators: "Operators",
    skip: "Skip to the content",
    project: "Project",
    region: (name: string) => `Region ${name}`,
    signOut: "Sign out",
    signedIn: (name: string) => `Signed in as ${name}`,
    settings: "Settings",
    theme: "Appearance",
    themes: { system: "As the system", light: "Light", dark: "Dark" },
    zone: "Time zone",
    ownZone: (name: string) => `That of the browser (${name})`,
  },

  signIn: {
    title: "Sign in",
    again: "Your session has ended. Sign in again to continue; everything you entered is still here.",
    method: "With",
    methods: {
      password: "Password",
      application_credential: "Application credential",
      basic: "Name and password",
      websso: "Single sign-on",
    },
    user: "User",
    password: "Password",
    domain: "Domain",
    project: "Project (optional)",
    id: "Id of the credential",
    secret: "Secret",
    submit: "Sign in",
    with: (name: string) => `Continue with ${name}`,
    noMethods: "The service offers no way to sign in here.",
  },

  search,

  fields,

  draft,

  refusal,

  leases,

  use,

  chart,

  feeds,

  notices,

  operators,
};

export type Messages = typeof en;
