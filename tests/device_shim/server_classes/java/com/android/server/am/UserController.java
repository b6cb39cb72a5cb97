package com.android.server.am;

/** In place of Android's: the owner is the only user. */
class UserController {
    int handleIncomingUser(int pid, int uid, int user, boolean allowsAll, int mode, String name, String app) {
        return 0;
    }
}
