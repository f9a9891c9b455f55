package stall

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What people ask and models say, in English, German, French and Spanish. The
// lists are short on purpose: each entry is a phrase that is seldom said
// otherwise. Other languages are served by the sign that all share: an answer
// that ends in a colon.

// pattern is compiled when it is first used: all of these take 8 ms, which a
// start of the program would feel.
type pattern func() *regexp.Regexp

func compiled(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// MatchString reports whether a text holds a match.
func (p pattern) MatchString(text string) bool { return p().MatchString(text) }

// anyOf makes a pattern that matches any of the phrases as whole words.
func anyOf(phrases ...string) pattern {
	return compiled(`(?i)(?:^|[^\pL\pN_])(?:` + strings.Join(phrases, "|") + `)(?:$|[^\pL\pN_])`)
}

var (
	// wantsChange are verbs of prompts that ask for something to be different.
	wantsChange = anyOf(
		`add`, `append`, `change`, `create`, `delete`, `edit`, `fix`, `implement`, `insert`, `install`, `make`, `modify`, `move`, `refactor`, `remove`,
		`rename`, `replace`, `rewrite`, `save`, `set up`, `update`, `write`, `correct`, `commit`, `convert`,
		`ändere`, `ergänze`, `erstelle`, `behebe`, `lösche`, `schreibe?`, `füge`, `benenne`, `ersetze`, `korrigiere`, `entferne`, `aktualisiere`, `lege`, `repariere`,
		`ajoute[rz]?`, `modifie[rz]?`, `crée[rz]?`, `corrige[rz]?`, `supprime[rz]?`, `renomme[rz]?`, `remplace[rz]?`, `écri[sr]e?`, `mets`,
		`añade`, `agrega`, `modifica`, `crea`, `corrige`, `elimina`, `borra`, `renombra`, `reemplaza`, `escribe`, `cambia`, `actualiza`, `arregla`,
	)

	// wantsAction are words of prompts that ask for anything that takes a tool, or
	// that agree to what the model offered.
	wantsAction = anyOf(
		`go on`, `go ahead`, `continue`, `proceed`, `do it`, `yes`, `try again`, `ja`, `mach weiter`, `weiter`, `oui`, `vas-y`, `continue[rz]`, `sí`, `continúa`, `hazlo`,
		`run`, `test`, `build`, `check`, `find`, `search`, `read`, `open`, `look (?:at|into|for)`, `list`, `show`, `execute`, `debug`, `grep`, `count`, `compile`,
		`lies`, `suche`, `prüfe`, `führe`, `zeige?`, `öffne`, `finde`, `teste`, `starte`,
		`lis(?:ez)?`, `cherche[rz]?`, `vérifie[rz]?`, `exécute[rz]?`, `lance[rz]?`, `ouvre[rz]?`, `montre[rz]?`, `teste[rz]?`,
		`lee`, `busca`, `comprueba`, `ejecuta`, `abre`, `muestra`, `prueba`, `encuentra`,
	)

	// asksOnly opens a prompt that wants an explanation, whatever verbs follow.
	asksOnly = compiled(`(?i)^\W*(?:how|why|what|when|where|which|who|explain|describe|tell me|should|is|are|does|do|did|was|were|` +
		`can (?:i|one)|(?:can|could) you (?:explain|tell|describe)|wie|warum|was|wann|wo|welche[rs]?|erkläre?|soll|ist|sind|` +
		`comment|pourquoi|quel(?:le)?s?|qu'|que|quand|où|explique|est-ce|cómo|por qué|qué|cuál|cuándo|dónde|explica)(?:$|[^\pL])`)

	// wantsText names things that are answered in text, code blocks included.
	wantsText = anyOf(
		`one-?liner`, `command`, `commands`, `example`, `examples`, `snippet`, `script`, `poem`, `story`, `email`, `joke`, `essay`, `summary`, `plan`, `proposal`, `release notes`, `changelog`, `commit message`,
		`befehl`, `befehle`, `beispiel`, `gedicht`, `zusammenfassung`, `commande`, `commandes`, `exemple`, `poème`, `résumé`, `comando`, `comandos`, `ejemplo`, `poema`, `resumen`,
		`don'?t (?:change|edit|write|run|apply)`, `do not (?:change|edit|write|run|apply)`, `without (?:changing|editing|running)`,
	)
)

// request is what a prompt asks for.
type request struct {
	change bool // of a file, or of what runs
	action bool // anything that takes a tool
	text   bool // something that is answered in text
}

func asksFor(prompt string) request {
	const most = 4 << 10
	if len(prompt) > most {
		prompt = strings.ToValidUTF8(prompt[:most], "")
	}
	prompt = strings.ReplaceAll(prompt, "’", "'")
	r := request{text: wantsText.MatchString(prompt)}
	if asksOnly.MatchString(prompt) {
		return r
	}
	r.change = wantsChange.MatchString(prompt) && !r.text
	r.action = r.change || wantsAction.MatchString(prompt)
	return r
}

var (
	// intends says what the model does next: first person, future, and a verb of
	// work that a tool does, so that "I'll be happy to help" and "I need to know
	// which port" are none. Between the two stand only words that put it off or
	// soften it; German has the verb at the end.
	intends = []pattern{
		anyOf(`(?:i'll|i will|i'm going to|i am going to|i'm about to|let me|let's|i need to|i should|i must)` +
			`(?: (?:now|first|then|also|just|quickly|next|again|simply|go ahead and|start by|begin by|proceed to|proceed and|take a|have a|try to|try and|continue to|continue by))*` +
			` (?:(?:re-?)?read|open|edit|chang(?:e|ing)|updat(?:e|ing)|creat(?:e|ing)|writ(?:e|ing)|run|running|execut(?:e|ing)|check|checking|look|looking|search|searching|find|finding|fix|fixing|add|adding|inspect|examin(?:e|ing)|` +
			`verify|modify|modifying|remov(?:e|ing)|delet(?:e|ing)|renam(?:e|ing)|replac(?:e|ing)|list|listing|apply|applying|try|test|testing|implement|implementing|view|explore|exploring|refactor|install|correct|correcting|reading|opening|editing|call|make (?:the|this|that|these|those)|see (?:what|where|how|if|the)|proceed|continue)`),
		anyOf(`(?:ich werde|lass mich|lassen sie mich|lass uns) (?:[^!?\n]{0,100} )?(?:lesen|öffnen|ändern|bearbeiten|prüfen|überprüfen|anschauen|ansehen|ausführen|erstellen|starten|suchen|beheben|hinzufügen|anpassen|schreiben|korrigieren|ersetzen|löschen|fortfahren)`,
			`ich (?:lese|öffne|ändere|bearbeite|prüfe|schaue|erstelle|starte|suche|behebe) (?:jetzt|nun|zuerst|als nächstes|mir)`),
		anyOf(`(?:je vais|laisse[zr]?-moi|permettez-moi de|je dois)(?: (?:maintenant|d'abord|donc|ensuite|aussi|également))*`+
			` (?:lire|ouvrir|modifier|créer|écrire|exécuter|vérifier|regarder|chercher|corriger|ajouter|lancer|mettre|supprimer|examiner|remplacer|commencer)`, `(?:vérifions|regardons|examinons)`),
		anyOf(`(?:voy a|déjame|déjeme|permíteme|vamos a|procedo a|procederé a)(?: (?:ahora|primero|entonces|también))*` +
			` (?:leer|abrir|modificar|editar|crear|escribir|ejecutar|comprobar|verificar|buscar|corregir|añadir|agregar|revisar|actualizar|cambiar|examinar|empezar|eliminar|reemplazar)`),
	}

	// defers makes an intent depend on the person, or says that it is over.
	defers = anyOf(
		`if you`, `if needed`, `let me know`, `when you`, `once you`, `as soon as you`, `unless`, `would you`, `do you want`, `should i`, `shall i`, `in the future`, `next time`, `from now on`, `wait for`, `you (?:can|could|may|might|should)`, `until you`, `your (?:confirmation|approval|permission)`,
		`wenn (?:du|sie)`, `falls`, `sobald`, `möchtest du`, `möchten sie`, `soll ich`, `sag mir`, `künftig`, `kannst du`, `können sie`,
		`si (?:tu|vous)`, `dès que`, `voulez-vous`, `veux-tu`, `souhaitez-vous`, `dites-moi`, `dis-moi`, `vous pouvez`,
		`si (?:quieres|lo deseas|necesitas|prefieres)`, `cuando`, `quieres que`, `avísame`, `dime`, `puedes`,
	)
)

// announces reports whether an answer ends by saying what comes next, and then
// nothing comes: an open ending after a sentence of intent, or an intent to do
// work as the last sentence. An answer that ends in a colon announces in any
// language.
func announces(p string) bool {
	last := lastSentence(p)
	bare := strings.TrimRight(last, " *_")
	switch {
	case last == "", strings.HasSuffix(p, fenceMark):
		return false
	case strings.HasSuffix(bare, "?"), strings.HasSuffix(bare, "\uff1f"), defers.MatchString(last):
		return false
	case strings.HasSuffix(bare, ":"), strings.HasSuffix(bare, "\uff1a"):
		return true
	}
	return slices.ContainsFunc(intends, func(r pattern) bool { return r.MatchString(last) })
}

var (
	// done says that something was made different.
	done = anyOf(
		`(?:i|i've|i have|we|we've)(?: just| now| successfully| also)? (?:created|updated|fixed|added|changed|modified|edited|removed|deleted|renamed|replaced|implemented|written|wrote|refactored|saved|moved|installed|corrected|made the change|made the changes)`,
		`(?:(?:has|have)(?: now)? been(?: successfully)?|(?:was|were|is|are) (?:now|successfully)) (?:created|updated|fixed|added|changed|modified|edited|removed|deleted|renamed|replaced|implemented|written|refactored|saved|moved|installed|corrected)`,
		`file (?:created|updated|saved|written|deleted|renamed)`, `(?:successfully|now) (?:created|updated|fixed|added|changed|modified|removed|deleted|renamed|saved)`,
		`(?:habe|hab|wurde|wurden|ist jetzt|sind jetzt)\P{L}(?:[^!?\n]{0,80}\P{L})?(?:erstellt|geändert|angepasst|behoben|hinzugefügt|gelöscht|ersetzt|aktualisiert|umbenannt|geschrieben|korrigiert|entfernt|ergänzt)`,
		`(?:j'ai|a été|ont été|est maintenant)(?: bien| également)? (?:créée?s?|modifiée?s?|ajoutée?s?|corrigée?s?|mise?s? à jour|supprimée?s?|renommée?s?|remplacée?s?|écrite?s?)`,
		`(?:he|se ha|se han|ha sido|han sido|hemos) (?:cread[oa]s?|modificad[oa]s?|añadid[oa]s?|agregad[oa]s?|corregid[oa]s?|actualizad[oa]s?|eliminad[oa]s?|renombrad[oa]s?|reemplazad[oa]s?|escrit[oa]s?|cambiad[oa]s?)`,
	)

	// not turns a claim into its opposite, or into a fact about the past.
	not = anyOf(
		`not`, `no`, `never`, `nothing`, `already`, `could`, `cannot`, `can't`, `couldn't`, `haven't`, `hasn't`, `wasn't`, `weren't`, `didn't`, `unable`, `failed`, `before`, `would`, `should`, `if`, `once`, `after`, `needs? to`, `must`, `denied`, `when`, `ago`, `last (?:week|month|year)`,
		`nicht`, `kein(?:e|en|er|s)?`, `nichts`, `bereits`, `schon`, `konnte`, `muss`, `falls`, `wenn`,
		`pas`, `rien`, `aucune?`, `déjà`, `jamais`, `si`, `no se`, `nada`, `ya`, `nunca`, `sin`,
	)
)

// claims reports whether a sentence of the answer says that something was
// changed, without saying the opposite.
func claims(p string) bool {
	for _, s := range sentencesOf(p) {
		if done.MatchString(s) && !not.MatchString(s) && !strings.HasSuffix(s, "?") {
			return true
		}
	}
	return false
}

var (
	// unable gives up.
	unable = anyOf(
		`i'm (?:sorry, but )?(?:i'm )?(?:unable|not able) to`, `i am (?:unable|not able) to`, `i (?:cannot|can't|can not|could not|couldn't) (?:complete|do|proceed|continue|access|edit|read|make|perform|find a way|modify|open|help|fix|run|execute)`, `please (?:provide|paste|share|run|try) `, `you (?:will|'ll) (?:have|need) to`,
		`ich kann (?:das|die|den|es|dies|diese|leider|nicht)[^.\n]{0,60}nicht`, `ich kann nicht`, `leider (?:kann|konnte|ist)`, `nicht möglich`, `bitte (?:gib|geben|führe|führen|stelle)`,
		`je ne peux pas`, `je ne suis pas en mesure`, `malheureusement`, `impossible de`, `veuillez`,
		`no puedo`, `no me es posible`, `lamentablemente`, `desafortunadamente`, `por favor,? (?:proporciona|comparte|ejecuta)`,
	)

	// toolless denies what the model was given.
	toolless = anyOf(
		`as an ai(?: language)?(?: model| assistant)?`, `(?:don't|do not) have (?:direct |any |the ability to )?(?:access|access to|the ability|tools?)`, `have no (?:direct )?access`,
		`(?:can't|cannot|can not|unable to) (?:directly )?(?:access|read|open|edit|modify|run|execute|see|interact with|browse)(?: or (?:access|read|open|edit|modify|run|execute|see))? (?:any |your |the |local |files|code|commands)`,
		`keinen (?:direkten )?zugriff`, `als ki(?:-modell|-assistent)?`, `je n'ai pas accès`, `en tant qu'ia`, `no tengo acceso`, `como (?:modelo de lenguaje|ia)`,
	)
)

func givesUp(p string) bool { return unable.MatchString(p) || toolless.MatchString(p) }

func deniesTools(p string) bool { return toolless.MatchString(p) }
