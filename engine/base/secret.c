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

/* Whether a name, of so many letters, has a word that tells that its value is a secret. Short words must
 * stand by themselves, not in others as in `bypass`: between letters of other kinds. */
static bool is_secret(const char *name, size_t length)
{
    static const struct {
        const char *word;
        bool alone;
    } words[] = {{"SECRET", false},     {"TOKEN", false},  {"PASSW", false},  {"PASSPHRASE", false},
                 {"CREDENTIAL", false}, {"COOKIE", false}, {"APIKEY", false}, {"SIGNATURE", false},
                 {"KEY", true},         {"PASS", true},    {"PWD", true},     {"CRED", true},
                 {"CREDS", true},       {"SIG", true}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        const size_t own = strlen(words[i].word);
        for (size_t at = 0; at + own <= length; ++at) {
            const bool begins = at == 0 || !isalnum((unsigned char)name[at - 1]);
            const bool ends = at + own == length || !isalnum((unsigned char)name[at + own]);
            if (strncasecmp(name + at, words[i].word, own) == 0 && (!words[i].alone || (begins && ends)))
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

/* The letters between a name and its value: `=`, `: `, `":"`; 0: there is no value. */
static size_t sign_length(const char *text)
{
    size_t length = *text == '"' || *text == '\'';
    if (text[length] != '=' && text[length] != ':')
        return 0;
    ++length;
    length += strspn(text + length, " \"'");
    return length;
}

char *secret_masked(const char *name, size_t length, const char *value)
{
    enum { MASKED = sizeof mask - 1 };
    const bool is_whole = is_secret(name, length);
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
        } else if (word > 0 && is_secret(value, word) && sign_length(after) > 0) {
            after += sign_length(after);
            hidden = strcspn(after, word_ends);
        }
        at = append(to, at, value, (size_t)(after - value));
        at = hidden > 0 ? append(to, at, mask, MASKED) : at;
        value = after + hidden;
    }
    to[at] = '\0';
    return to;
}
