import { type Messages, en } from "./en";

/** Languages beside English: a folder with the same keys, loaded when a browser prefers it. */
const LANGUAGES: Readonly<Record<string, () => Promise<Messages>>> = {};

/** The texts in the language of the page; read them while rendering, not when a module is loaded. */
export let t: Messages = en;

/** Load the texts of the first language that the browser prefers and the page has. */
export async function loadMessages(preferred: readonly string[]): Promise<void> {
  for (const language of preferred.map((each) => each.toLowerCase().split("-")[0]!)) {
    if (language === "en") return;
    const load = LANGUAGES[language];
    if (load) {
      t = await load();
      document.documentElement.lang = language;
      return;
    }
  }
}
