#include "CPages.h"

/* One array for each file of `files`; a test holds the table and the folder together (Tests/Pages/test_files.py). */

static const unsigned char arrive_app_mjs[] = {
#embed "files/arrive/app.mjs"
};
static const unsigned char arrive_arrive_css[] = {
#embed "files/arrive/arrive.css"
};
static const unsigned char arrive_bell_mjs[] = {
#embed "files/arrive/bell.mjs"
};
static const unsigned char arrive_bell_svg[] = {
#embed "files/arrive/bell.svg"
};
static const unsigned char arrive_gateway_mjs[] = {
#embed "files/arrive/gateway.mjs"
};
static const unsigned char arrive_index_html[] = {
#embed "files/arrive/index.html"
};
static const unsigned char arrive_steps_mjs[] = {
#embed "files/arrive/steps.mjs"
};
static const unsigned char arrive_strings_mjs[] = {
#embed "files/arrive/strings.mjs"
};
static const unsigned char arrive_timer_mjs[] = {
#embed "files/arrive/timer.mjs"
};
static const unsigned char chat_app_mjs[] = {
#embed "files/chat/app.mjs"
};
static const unsigned char chat_bubble_mjs[] = {
#embed "files/chat/bubble.mjs"
};
static const unsigned char chat_chat_css[] = {
#embed "files/chat/chat.css"
};
static const unsigned char chat_chat_svg[] = {
#embed "files/chat/chat.svg"
};
static const unsigned char chat_coming_mjs[] = {
#embed "files/chat/coming.mjs"
};
static const unsigned char chat_compose_mjs[] = {
#embed "files/chat/compose.mjs"
};
static const unsigned char chat_files_mjs[] = {
#embed "files/chat/files.mjs"
};
static const unsigned char chat_find_mjs[] = {
#embed "files/chat/find.mjs"
};
static const unsigned char chat_index_html[] = {
#embed "files/chat/index.html"
};
static const unsigned char chat_live_mjs[] = {
#embed "files/chat/live.mjs"
};
static const unsigned char chat_people_mjs[] = {
#embed "files/chat/people.mjs"
};
static const unsigned char chat_pieces_mjs[] = {
#embed "files/chat/pieces.mjs"
};
static const unsigned char chat_questions_mjs[] = {
#embed "files/chat/questions.mjs"
};
static const unsigned char chat_rooms_mjs[] = {
#embed "files/chat/rooms.mjs"
};
static const unsigned char chat_seldom_css[] = {
#embed "files/chat/seldom.css"
};
static const unsigned char chat_seldom_mjs[] = {
#embed "files/chat/seldom.mjs"
};
static const unsigned char chat_sheets_mjs[] = {
#embed "files/chat/sheets.mjs"
};
static const unsigned char chat_strings_mjs[] = {
#embed "files/chat/strings.mjs"
};
static const unsigned char chat_talk_mjs[] = {
#embed "files/chat/talk.mjs"
};
static const unsigned char chat_voice_mjs[] = {
#embed "files/chat/voice.mjs"
};
static const unsigned char console_access_mjs[] = {
#embed "files/console/access.mjs"
};
static const unsigned char console_app_mjs[] = {
#embed "files/console/app.mjs"
};
static const unsigned char console_checker_mjs[] = {
#embed "files/console/checker.mjs"
};
static const unsigned char console_checking_mjs[] = {
#embed "files/console/checking.mjs"
};
static const unsigned char console_console_css[] = {
#embed "files/console/console.css"
};
static const unsigned char console_conversation_mjs[] = {
#embed "files/console/conversation.mjs"
};
static const unsigned char console_csv_mjs[] = {
#embed "files/console/csv.mjs"
};
static const unsigned char console_entry_mjs[] = {
#embed "files/console/entry.mjs"
};
static const unsigned char console_finder_mjs[] = {
#embed "files/console/finder.mjs"
};
static const unsigned char console_help_mjs[] = {
#embed "files/console/help.mjs"
};
static const unsigned char console_index_html[] = {
#embed "files/console/index.html"
};
static const unsigned char console_keys_mjs[] = {
#embed "files/console/keys.mjs"
};
static const unsigned char console_lists_mjs[] = {
#embed "files/console/lists.mjs"
};
static const unsigned char console_moments_mjs[] = {
#embed "files/console/moments.mjs"
};
static const unsigned char console_node_mjs[] = {
#embed "files/console/node.mjs"
};
static const unsigned char console_paged_mjs[] = {
#embed "files/console/paged.mjs"
};
static const unsigned char console_proof_mjs[] = {
#embed "files/console/proof.mjs"
};
static const unsigned char console_rowview_mjs[] = {
#embed "files/console/rowview.mjs"
};
static const unsigned char console_seal_svg[] = {
#embed "files/console/seal.svg"
};
static const unsigned char console_search_mjs[] = {
#embed "files/console/search.mjs"
};
static const unsigned char console_seldom_css[] = {
#embed "files/console/seldom.css"
};
static const unsigned char console_seldom_mjs[] = {
#embed "files/console/seldom.mjs"
};
static const unsigned char console_surveys_mjs[] = {
#embed "files/console/surveys.mjs"
};
static const unsigned char console_user_mjs[] = {
#embed "files/console/user.mjs"
};
static const unsigned char console_why_mjs[] = {
#embed "files/console/why.mjs"
};
static const unsigned char console_work_mjs[] = {
#embed "files/console/work.mjs"
};
static const unsigned char mine_app_mjs[] = {
#embed "files/mine/app.mjs"
};
static const unsigned char mine_index_html[] = {
#embed "files/mine/index.html"
};
static const unsigned char mine_mine_css[] = {
#embed "files/mine/mine.css"
};
static const unsigned char mine_strings_mjs[] = {
#embed "files/mine/strings.mjs"
};
static const unsigned char mine_vcard_mjs[] = {
#embed "files/mine/vcard.mjs"
};
static const unsigned char shared_address_mjs[] = {
#embed "files/shared/address.mjs"
};
static const unsigned char shared_api_mjs[] = {
#embed "files/shared/api.mjs"
};
static const unsigned char shared_base_css[] = {
#embed "files/shared/base.css"
};
static const unsigned char shared_chart_mjs[] = {
#embed "files/shared/chart.mjs"
};
static const unsigned char shared_diff_mjs[] = {
#embed "files/shared/diff.mjs"
};
static const unsigned char shared_dom_mjs[] = {
#embed "files/shared/dom.mjs"
};
static const unsigned char shared_feed_mjs[] = {
#embed "files/shared/feed.mjs"
};
static const unsigned char shared_icons_mjs[] = {
#embed "files/shared/icons.mjs"
};
static const unsigned char shared_ids_mjs[] = {
#embed "files/shared/ids.mjs"
};
static const unsigned char shared_login_mjs[] = {
#embed "files/shared/login.mjs"
};
static const unsigned char shared_outbox_mjs[] = {
#embed "files/shared/outbox.mjs"
};
static const unsigned char shared_prose_mjs[] = {
#embed "files/shared/prose.mjs"
};
static const unsigned char shared_rows_mjs[] = {
#embed "files/shared/rows.mjs"
};
static const unsigned char shared_sheet_css[] = {
#embed "files/shared/sheet.css"
};
static const unsigned char shared_sheet_mjs[] = {
#embed "files/shared/sheet.mjs"
};
static const unsigned char shared_strings_mjs[] = {
#embed "files/shared/strings.mjs"
};
static const unsigned char shared_text_mjs[] = {
#embed "files/shared/text.mjs"
};
static const unsigned char shared_tokens_css[] = {
#embed "files/shared/tokens.css"
};
static const unsigned char shared_upload_mjs[] = {
#embed "files/shared/upload.mjs"
};
static const unsigned char shared_verify_mjs[] = {
#embed "files/shared/verify.mjs"
};
static const unsigned char shared_window_mjs[] = {
#embed "files/shared/window.mjs"
};
static const unsigned char shared_words_mjs[] = {
#embed "files/shared/words.mjs"
};

static const struct sillok_page pages[] = {
    {"/arrive/app.mjs", arrive_app_mjs, sizeof arrive_app_mjs, "text/javascript; charset=utf-8"},
    {"/arrive/arrive.css", arrive_arrive_css, sizeof arrive_arrive_css, "text/css; charset=utf-8"},
    {"/arrive/bell.mjs", arrive_bell_mjs, sizeof arrive_bell_mjs, "text/javascript; charset=utf-8"},
    {"/arrive/bell.svg", arrive_bell_svg, sizeof arrive_bell_svg, "image/svg+xml"},
    {"/arrive/gateway.mjs", arrive_gateway_mjs, sizeof arrive_gateway_mjs, "text/javascript; charset=utf-8"},
    {"/arrive/index.html", arrive_index_html, sizeof arrive_index_html, "text/html; charset=utf-8"},
    {"/arrive/steps.mjs", arrive_steps_mjs, sizeof arrive_steps_mjs, "text/javascript; charset=utf-8"},
    {"/arrive/strings.mjs", arrive_strings_mjs, sizeof arrive_strings_mjs, "text/javascript; charset=utf-8"},
    {"/arrive/timer.mjs", arrive_timer_mjs, sizeof arrive_timer_mjs, "text/javascript; charset=utf-8"},
    {"/chat/app.mjs", chat_app_mjs, sizeof chat_app_mjs, "text/javascript; charset=utf-8"},
    {"/chat/bubble.mjs", chat_bubble_mjs, sizeof chat_bubble_mjs, "text/javascript; charset=utf-8"},
    {"/chat/chat.css", chat_chat_css, sizeof chat_chat_css, "text/css; charset=utf-8"},
    {"/chat/chat.svg", chat_chat_svg, sizeof chat_chat_svg, "image/svg+xml"},
    {"/chat/coming.mjs", chat_coming_mjs, sizeof chat_coming_mjs, "text/javascript; charset=utf-8"},
    {"/chat/compose.mjs", chat_compose_mjs, sizeof chat_compose_mjs, "text/javascript; charset=utf-8"},
    {"/chat/files.mjs", chat_files_mjs, sizeof chat_files_mjs, "text/javascript; charset=utf-8"},
    {"/chat/find.mjs", chat_find_mjs, sizeof chat_find_mjs, "text/javascript; charset=utf-8"},
    {"/chat/index.html", chat_index_html, sizeof chat_index_html, "text/html; charset=utf-8"},
    {"/chat/live.mjs", chat_live_mjs, sizeof chat_live_mjs, "text/javascript; charset=utf-8"},
    {"/chat/people.mjs", chat_people_mjs, sizeof chat_people_mjs, "text/javascript; charset=utf-8"},
    {"/chat/pieces.mjs", chat_pieces_mjs, sizeof chat_pieces_mjs, "text/javascript; charset=utf-8"},
    {"/chat/questions.mjs", chat_questions_mjs, sizeof chat_questions_mjs, "text/javascript; charset=utf-8"},
    {"/chat/rooms.mjs", chat_rooms_mjs, sizeof chat_rooms_mjs, "text/javascript; charset=utf-8"},
    {"/chat/seldom.css", chat_seldom_css, sizeof chat_seldom_css, "text/css; charset=utf-8"},
    {"/chat/seldom.mjs", chat_seldom_mjs, sizeof chat_seldom_mjs, "text/javascript; charset=utf-8"},
    {"/chat/sheets.mjs", chat_sheets_mjs, sizeof chat_sheets_mjs, "text/javascript; charset=utf-8"},
    {"/chat/strings.mjs", chat_strings_mjs, sizeof chat_strings_mjs, "text/javascript; charset=utf-8"},
    {"/chat/talk.mjs", chat_talk_mjs, sizeof chat_talk_mjs, "text/javascript; charset=utf-8"},
    {"/chat/voice.mjs", chat_voice_mjs, sizeof chat_voice_mjs, "text/javascript; charset=utf-8"},
    {"/console/access.mjs", console_access_mjs, sizeof console_access_mjs, "text/javascript; charset=utf-8"},
    {"/console/app.mjs", console_app_mjs, sizeof console_app_mjs, "text/javascript; charset=utf-8"},
    {"/console/checker.mjs", console_checker_mjs, sizeof console_checker_mjs, "text/javascript; charset=utf-8"},
    {"/console/checking.mjs", console_checking_mjs, sizeof console_checking_mjs, "text/javascript; charset=utf-8"},
    {"/console/console.css", console_console_css, sizeof console_console_css, "text/css; charset=utf-8"},
    {"/console/conversation.mjs", console_conversation_mjs, sizeof console_conversation_mjs, "text/javascript; charset=utf-8"},
    {"/console/csv.mjs", console_csv_mjs, sizeof console_csv_mjs, "text/javascript; charset=utf-8"},
    {"/console/entry.mjs", console_entry_mjs, sizeof console_entry_mjs, "text/javascript; charset=utf-8"},
    {"/console/finder.mjs", console_finder_mjs, sizeof console_finder_mjs, "text/javascript; charset=utf-8"},
    {"/console/help.mjs", console_help_mjs, sizeof console_help_mjs, "text/javascript; charset=utf-8"},
    {"/console/index.html", console_index_html, sizeof console_index_html, "text/html; charset=utf-8"},
    {"/console/keys.mjs", console_keys_mjs, sizeof console_keys_mjs, "text/javascript; charset=utf-8"},
    {"/console/lists.mjs", console_lists_mjs, sizeof console_lists_mjs, "text/javascript; charset=utf-8"},
    {"/console/moments.mjs", console_moments_mjs, sizeof console_moments_mjs, "text/javascript; charset=utf-8"},
    {"/console/node.mjs", console_node_mjs, sizeof console_node_mjs, "text/javascript; charset=utf-8"},
    {"/console/paged.mjs", console_paged_mjs, sizeof console_paged_mjs, "text/javascript; charset=utf-8"},
    {"/console/proof.mjs", console_proof_mjs, sizeof console_proof_mjs, "text/javascript; charset=utf-8"},
    {"/console/rowview.mjs", console_rowview_mjs, sizeof console_rowview_mjs, "text/javascript; charset=utf-8"},
    {"/console/seal.svg", console_seal_svg, sizeof console_seal_svg, "image/svg+xml"},
    {"/console/search.mjs", console_search_mjs, sizeof console_search_mjs, "text/javascript; charset=utf-8"},
    {"/console/seldom.css", console_seldom_css, sizeof console_seldom_css, "text/css; charset=utf-8"},
    {"/console/seldom.mjs", console_seldom_mjs, sizeof console_seldom_mjs, "text/javascript; charset=utf-8"},
    {"/console/surveys.mjs", console_surveys_mjs, sizeof console_surveys_mjs, "text/javascript; charset=utf-8"},
    {"/console/user.mjs", console_user_mjs, sizeof console_user_mjs, "text/javascript; charset=utf-8"},
    {"/console/why.mjs", console_why_mjs, sizeof console_why_mjs, "text/javascript; charset=utf-8"},
    {"/console/work.mjs", console_work_mjs, sizeof console_work_mjs, "text/javascript; charset=utf-8"},
    {"/mine/app.mjs", mine_app_mjs, sizeof mine_app_mjs, "text/javascript; charset=utf-8"},
    {"/mine/index.html", mine_index_html, sizeof mine_index_html, "text/html; charset=utf-8"},
    {"/mine/mine.css", mine_mine_css, sizeof mine_mine_css, "text/css; charset=utf-8"},
    {"/mine/strings.mjs", mine_strings_mjs, sizeof mine_strings_mjs, "text/javascript; charset=utf-8"},
    {"/mine/vcard.mjs", mine_vcard_mjs, sizeof mine_vcard_mjs, "text/javascript; charset=utf-8"},
    {"/shared/address.mjs", shared_address_mjs, sizeof shared_address_mjs, "text/javascript; charset=utf-8"},
    {"/shared/api.mjs", shared_api_mjs, sizeof shared_api_mjs, "text/javascript; charset=utf-8"},
    {"/shared/base.css", shared_base_css, sizeof shared_base_css, "text/css; charset=utf-8"},
    {"/shared/chart.mjs", shared_chart_mjs, sizeof shared_chart_mjs, "text/javascript; charset=utf-8"},
    {"/shared/diff.mjs", shared_diff_mjs, sizeof shared_diff_mjs, "text/javascript; charset=utf-8"},
    {"/shared/dom.mjs", shared_dom_mjs, sizeof shared_dom_mjs, "text/javascript; charset=utf-8"},
    {"/shared/feed.mjs", shared_feed_mjs, sizeof shared_feed_mjs, "text/javascript; charset=utf-8"},
    {"/shared/icons.mjs", shared_icons_mjs, sizeof shared_icons_mjs, "text/javascript; charset=utf-8"},
    {"/shared/ids.mjs", shared_ids_mjs, sizeof shared_ids_mjs, "text/javascript; charset=utf-8"},
    {"/shared/login.mjs", shared_login_mjs, sizeof shared_login_mjs, "text/javascript; charset=utf-8"},
    {"/shared/outbox.mjs", shared_outbox_mjs, sizeof shared_outbox_mjs, "text/javascript; charset=utf-8"},
    {"/shared/prose.mjs", shared_prose_mjs, sizeof shared_prose_mjs, "text/javascript; charset=utf-8"},
    {"/shared/rows.mjs", shared_rows_mjs, sizeof shared_rows_mjs, "text/javascript; charset=utf-8"},
    {"/shared/sheet.css", shared_sheet_css, sizeof shared_sheet_css, "text/css; charset=utf-8"},
    {"/shared/sheet.mjs", shared_sheet_mjs, sizeof shared_sheet_mjs, "text/javascript; charset=utf-8"},
    {"/shared/strings.mjs", shared_strings_mjs, sizeof shared_strings_mjs, "text/javascript; charset=utf-8"},
    {"/shared/text.mjs", shared_text_mjs, sizeof shared_text_mjs, "text/javascript; charset=utf-8"},
    {"/shared/tokens.css", shared_tokens_css, sizeof shared_tokens_css, "text/css; charset=utf-8"},
    {"/shared/upload.mjs", shared_upload_mjs, sizeof shared_upload_mjs, "text/javascript; charset=utf-8"},
    {"/shared/verify.mjs", shared_verify_mjs, sizeof shared_verify_mjs, "text/javascript; charset=utf-8"},
    {"/shared/window.mjs", shared_window_mjs, sizeof shared_window_mjs, "text/javascript; charset=utf-8"},
    {"/shared/words.mjs", shared_words_mjs, sizeof shared_words_mjs, "text/javascript; charset=utf-8"},
};

const struct sillok_page *sillok_pages(size_t *count) {
    *count = sizeof pages / sizeof *pages;
    return pages;
}
