#include "base/secret.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char mask[] = "***";
static const char word_ends[] = "&;, \t\n\"'"; /* of a value inside of a value */
static const char host_begins[] =
    "/?#&;, \t\n\"'"; /* what ends the part of an address that may have a user */

enum where { ANYWHERE, ALONE, LAST }; /* of a name: short words stand between letters of other kinds */

/* As the table of base/secret.py; tests/data/secret_cases.h holds both to the same cases. */
static const struct {
    const char *word;
    enum where where;
} words[] = {{"SECRET", ANYWHERE},    {"TOKEN", ANYWHERE},
             {"PASSW", ANYWHERE},     {"PASSPHRASE", ANYWHERE},
             {"PWD", ANYWHERE},       {"CREDENTIAL", ANYWHERE},
             {"COOKIE", ANYWHERE},    {"APIKEY", ANYWHERE},
             {"ACCESSKEY", ANYWHERE}, {"PRIVATEKEY", ANYWHERE},
             {"SIGNATURE", ANYWHERE}, {"AUTHORIZATION", ANYWHERE},
             {"KEY", ALONE},          {"PW", ALONE},
             {"JWT", ALONE},          {"CRED", ALONE},
             {"CREDS", ALONE},        {"SIG", ALONE},
             {"PASS", LAST}};
static const char *const ordinary[] = {"PWD", "OLDPWD", "TOKENIZERS_PARALLELISM"};
static const char *const switches[] = {"", "-", "0", "1", "-1", "true", "false", "yes", "no", "on", "off"};
static const char *const bearer[] = {"Bearer"};
static const char *const schemes[] = {"Bearer", "Basic"}; /* the secret is the word behind them */

static bool is_one_of(const char *text, size_t length, const char *const *those, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (strlen(those[i]) == length && strncasecmp(text, those[i], length) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(text, length, those) is_one_of(text, length, those, sizeof(those) / sizeof(those)[0])

/* Whether a name, of so many letters, has a word that tells that its value is a secret. */
static bool is_secret(const char *name, size_t length)
{
    if (IS_ONE_OF(name, length, ordinary))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        const size_t own = strlen(words[i].word);
        for (size_t at = 0; at + own <= length; ++at) {
            const bool begins = at == 0 || !isalnum((unsigned char)name[at - 1]);
            const bool is_last = at + own == length;
            const bool ends = is_last || (words[i].where == ALONE && !isalnum((unsigned char)name[at + own]));
            if (strncasecmp(name + at, words[i].word, own) == 0 &&
                (words[i].where == ANYWHERE || (begins && ends)))
                return true;
        }
    }
    return false;
}

static size_t append(char *to, size_t at, const char *text, size_t length)
{
    memcpy(to + at, text, length);
    return at + length;
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || (text[length] && strchr("_-.", text[length])))
        ++length;
    return length;
}

/* The letters before the `@` of an address that begins after `://`; 0: it has no user. */
static size_t user_length(const char *address)
{
    size_t length = strcspn(address, host_begins);
    while (length > 0 && address[length - 1] != '@')
        --length;
    return length > 0 ? length - 1 : 0;
}

/* The letters between a name and its value: `=`, ` = `, `: `, `":"`; a space behind an option, `--token x`;
 * 0: there is no value. */
static size_t sign_length(const char *name, const char *text)
{
    size_t length = *text == '"' || *text == '\'';
    length += strspn(text + length, " ");
    if (text[length] == '=' || text[length] == ':') {
        ++length;
        length += strspn(text + length, " ");
        return length + (text[length] == '"' || text[length] == '\'');
    }
    length = strspn(text, " ");
    if (*name != '-' || length == 0 || !text[length] || text[length] == '-')
        return 0;
    return length + (text[length] == '"' || text[length] == '\'');
}

/* The letters of a value: up to its quote, if it has one, else a word; two behind the name of a scheme; 0: it
 * is a switch. */
static size_t value_length(const char *value, char before)
{
    if (before == '"' || before == '\'') {
        const char quote[] = {before, '\0'};
        return strcspn(value, quote);
    }
    size_t length = strcspn(value, word_ends);
    if (IS_ONE_OF(value, length, switches))
        return 0;
    const size_t gap = strspn(value + length, " ");
    if (IS_ONE_OF(value, length, schemes) && gap > 0)
        length += gap + strcspn(value + length + gap, word_ends);
    return length;
}

/* The letters of `Bearer xyz` up to its secret; 0: that is not there. */
static size_t bearer_length(const char *text, size_t word)
{
    const size_t gap = strspn(text + word, " ");
    return gap > 0 && text[word + gap] && IS_ONE_OF(text, word, bearer) ? word + gap : 0;
}

char *secret_masked(const char *name, size_t length, const char *value)
{
    enum { MASKED = sizeof mask - 1 };
    const bool is_whole = is_secret(name, length) && !IS_ONE_OF(value, strlen(value), switches);
    char *to = malloc((MASKED + 1) * (strlen(value) + 1));
    size_t at = 0;
    if (!to)
        return NULL;
    if (is_whole)
        at = append(to, at, mask, MASKED);
    while (!is_whole && *value) {
        const size_t word = name_length(value);
        const char *after = value + (word > 0 ? word : 1);
        size_t hidden = 0;
        if (strncmp(after, "://", strlen("://")) == 0) {
            after += strlen("://");
            hidden = user_length(after);
        } else if (word > 0 && is_secret(value, word) && sign_length(value, after) > 0) {
            after += sign_length(value, after);
            hidden = value_length(after, after[-1]);
        } else if (word > 0 && bearer_length(value, word) > 0) {
            after = value + bearer_length(value, word);
            hidden = strcspn(after, word_ends);
        }
        at = append(to, at, value, (size_t)(after - value));
        at = hidden > 0 ? append(to, at, mask, MASKED) : at;
        value = after + hidden;
    }
    to[at] = '\0';
    return to;
}
